import DAOCore
import Foundation

/// Reads the rows of a statement, column by column. Each engine has one subclass, which also overrides the
/// methods of ``/DAOCore/RowReader`` that read a field.
open class SQLRowReader: RowReader {
    /// The field in the first column. The next fields are in the next columns.
    public final let firstField: Int
    /// The column of the key; -1 when the statement does not read it.
    public final let keyColumn: Int
    /// Which rows of the statement are read; nil for all. It is never accessed during another access.
    @exclusivity(unchecked) final var selection: RowSelection?

    /// Creates a reader that is positioned before the first row.
    ///
    /// - Parameters:
    ///   - entity: The entity whose fields the columns hold.
    ///   - firstField: The field in the first column. The next fields are in the next columns.
    ///   - keyColumn: The column of the key; -1 when the statement does not read it.
    public init(entity: EntityDescription, firstField: Int = 0, keyColumn: Int) {
        self.firstField = firstField
        self.keyColumn = keyColumn
        super.init(entity: entity)
    }

    /// The number of rows that the reader has moved to.
    private var steps: UInt32 = 0

    /// Moves to the next row of the statement. The first call runs the statement. The base class has no rows.
    ///
    /// - Returns: False when there are no more rows.
    open func step() throws -> Bool { false }

    /// Moves to the next row of the statement, and asks from time to time whether the call was cancelled.
    final func next() throws -> Bool {
        steps &+= 1
        if steps & 255 == 0 { try CallCancellation.check() }
        return try step()
    }

    /// Moves to the next row that is to be read.
    public final override func advance() throws -> Bool {
        guard let selection else { return try next() }
        return try selection.advance(self)
    }

    /// The key of the row; nil when the statement does not read it.
    public final override var currentKey: Key? {
        keyColumn < 0 ? nil : key(inColumn: keyColumn, of: entity.keyKind)
    }

    /// The key in a column; nil when the column has no key of this kind.
    open func key(inColumn column: Int, of kind: ValueKind) -> Key? { nil }

    /// The integer in a column; zero when there is none.
    open func integer(inColumn column: Int) -> Int64 { 0 }

    /// The text in a column; empty when there is none.
    open func text(inColumn column: Int) -> String { "" }

    // MARK: Comparing

    // These methods compare new values with the stored row. By default they read the field. An engine that
    // can compare in place overrides them.

    /// Whether the field has this value.
    open func holds(_ value: Int64, at index: Int) -> Bool { !isNull(at: index) && (try? readInt64(at: index)) == value }

    /// Whether the field has this value.
    open func holds(_ value: UInt64, at index: Int) -> Bool { !isNull(at: index) && (try? readUInt64(at: index)) == value }

    /// Whether the field has this value, or both are NaN.
    open func holds(_ value: Double, at index: Int) -> Bool {
        guard !isNull(at: index), let stored = try? readDouble(at: index) else { return false }
        return stored == value || stored.isNaN && value.isNaN
    }

    /// Whether the field has this text, byte for byte.
    open func holds(_ value: String, at index: Int) -> Bool {
        guard !isNull(at: index), let stored = try? readString(at: index) else { return false }
        return stored.hasSameBytes(as: value)
    }

    /// Whether the field has these bytes.
    open func holds(_ value: Data, at index: Int) -> Bool { !isNull(at: index) && (try? readData(at: index)) == value }

    /// Whether the field has this UUID.
    open func holds(_ value: UUID, at index: Int) -> Bool { !isNull(at: index) && (try? readUUID(at: index)) == value }
}
