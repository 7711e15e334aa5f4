import DAOCore
import DAOLMDB
import DAOSQLite

/// The databases that outlive a process.
package let drivers = DatabaseDrivers(.sqlite, .lmdb)

/// The entity with a count of some type.
package struct Entry<Count: FieldValue & Equatable>: Model, Equatable {
    package var id: Int
    package var text: String
    package var count: Count

    package static var schema: Schema<Self> {
        Schema("entry", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .indexed), Field("count", \.count))
    }

    package init(id: Int, text: String, count: Count) {
        (self.id, self.text, self.count) = (id, text, count)
    }
}

/// The third version of the entity: counts as text.
package typealias TextEntry = Entry<String>

/// The first version of the entity.
package typealias OldEntry = Entry<Int>

extension OldEntry {
    package static func make(_ count: Int) -> [OldEntry] {
        (1...count).map { OldEntry(id: $0, text: "text \($0)", count: $0 * 3) }
    }
}

/// The second version of the entity: a renamed field without its index, and a new indexed field.
package struct NewEntry: Model, Equatable {
    package var id: Int
    package var title: String
    package var count: Int
    package var color: String

    package static let schema = Schema(
        "entry", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .renamed(from: "text")),
        Field("count", \.count), Field("color", \.color, .default("red"), .indexed))

    package init(id: Int, title: String, count: Int, color: String) {
        (self.id, self.title, self.count, self.color) = (id, title, count, color)
    }

    package init(_ entry: OldEntry, color: String = "red") {
        self.init(id: entry.id, title: entry.text, count: entry.count, color: color)
    }
}

/// The first version of the entity with two fields more.
package struct WiderEntry: Model, Equatable {
    package var id: Int
    package var text: String
    package var count: Int
    package var size: Int
    package var note: String?

    package static let schema = Schema(
        "entry", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .indexed), Field("count", \.count),
        Field("size", \.size, .default(.min), .indexed), Field("note", \.note, .default("none")))

    package init(id: Int, text: String, count: Int, size: Int, note: String?) {
        (self.id, self.text, self.count, self.size, self.note) = (id, text, count, size, note)
    }

    package init(_ entry: OldEntry, size: Int, note: String?) {
        self.init(id: entry.id, text: entry.text, count: entry.count, size: size, note: note)
    }
}

/// A point of an evolution at which a process can be killed.
package enum Moment: String, CaseIterable, Sendable {
    /// In the first step, between rows.
    case amongRows
    /// In the second step, after the rows were rewritten.
    case afterRewriting
    /// After the entity was changed to the declaration of the model.
    case afterModels
}

/// Returns the evolution to version 3. The closure is called at every point and can end the process.
package func evolution(_ end: @escaping @Sendable (Moment) -> Void) -> Evolution {
    Evolution(
        version: 3,
        migrations: [
            Migration(to: 2) { step in
                var rows = 0
                try step.forEachRow(of: "entry") { row in
                    rows += 1
                    if rows == 4000 { end(.amongRows) }
                    row["count"] = .integer(Int64(rows))
                }
            },
            Migration(to: 3) { step in
                try step.changeType(of: "count", in: "entry", to: FieldType(.string))
                try step.changeType(of: "count", in: "entry", to: FieldType(.int64))
                end(.afterRewriting)
            },
        ], models: [NewEntry.self])
}
