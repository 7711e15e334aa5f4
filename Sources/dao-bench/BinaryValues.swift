import DAOSystemPostgres

/// The parameters of a statement, in PostgreSQL's binary form.
struct BinaryValues {
    static let bool: Int32 = 16
    static let int8: Int32 = 20
    static let text: Int32 = 25
    static let float8: Int32 = 701

    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    mutating func append(_ number: Int64) {
        bytes.append(bigEndian: number)
        ends.append(bytes.count)
    }

    mutating func append(_ number: Double) { append(Int64(bitPattern: number.bitPattern)) }

    mutating func append(_ flag: Bool) {
        bytes.append(flag ? 1 : 0)
        ends.append(bytes.count)
    }

    /// Appends an array of one value of each item, without nulls.
    mutating func append<Items: Collection>(
        array items: Items, of type: Int32, _ append: (inout CopyRows, Items.Element) -> Void
    ) {
        for number in [1, 0, type, Int32(items.count), 1] { bytes.append(bigEndian: number) }
        var rows = CopyRows(elements: bytes)
        bytes = []
        for item in items { append(&rows, item) }
        bytes = rows.bytes
        ends.append(bytes.count)
    }

    /// Calls a closure with the number of values, their addresses, lengths and forms.
    @inline(__always) func withPointers<Result>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        bytes.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: ends.count) { values in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * ends.count) { numbers in
                    var start = 0
                    for (index, end) in ends.enumerated() {
                        values[index] = bytes.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self)
                        numbers[index] = Int32(end - start)
                        numbers[ends.count + index] = 1
                        start = end
                    }
                    let lengths = numbers.baseAddress.map { UnsafePointer($0) }
                    return body(Int32(ends.count), values.baseAddress, lengths, lengths?.advanced(by: ends.count))
                }
            }
        }
    }
}

/// Rows in the form of COPY, in which each value follows its length. The elements of arrays have the same form.
struct CopyRows {
    static let messageLength = 1 << 16

    var bytes: [UInt8]
    private let columns: Int16

    init(columns: Int) {
        self.columns = Int16(columns)
        bytes = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + Array(repeating: 0, count: 8)
        bytes.reserveCapacity(Self.messageLength + 1024)
    }

    init(elements bytes: [UInt8]) { (self.bytes, columns) = (bytes, 0) }

    mutating func begin() { bytes.append(bigEndian: columns) }

    mutating func end() { bytes.append(bigEndian: -1 as Int16) }

    mutating func append(_ number: Int64) {
        bytes.append(bigEndian: 8 as Int32)
        bytes.append(bigEndian: number)
    }

    mutating func append(_ number: Double) { append(Int64(bitPattern: number.bitPattern)) }

    mutating func append(_ flag: Bool) {
        bytes.append(bigEndian: 1 as Int32)
        bytes.append(flag ? 1 : 0)
    }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            bytes.append(bigEndian: Int32(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    mutating func appendNull() { bytes.append(bigEndian: -1 as Int32) }
}

extension [UInt8] {
    @inline(__always) fileprivate mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

/// The rows of a statement in binary form.
struct BinaryRows {
    private let result: OpaquePointer
    let count: Int32

    init(_ result: OpaquePointer) {
        self.result = result
        count = PQntuples(result)
    }

    func clear() { PQclear(result) }

    @inline(__always) private func number(_ row: Int32, _ column: Int32) -> Int64 {
        Int64(bigEndian: UnsafeRawPointer(PQgetvalue(result, row, column)).loadUnaligned(as: Int64.self))
    }

    @inline(__always) func isNull(_ row: Int32, _ column: Int32) -> Bool { PQgetisnull(result, row, column) == 1 }

    @inline(__always) func integer(_ row: Int32, _ column: Int32) -> Int { Int(number(row, column)) }

    @inline(__always) func double(_ row: Int32, _ column: Int32) -> Double {
        Double(bitPattern: UInt64(bitPattern: number(row, column)))
    }

    @inline(__always) func flag(_ row: Int32, _ column: Int32) -> Bool { PQgetvalue(result, row, column).pointee != 0 }

    @inline(__always) func text(_ row: Int32, _ column: Int32) -> String {
        let bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
        return String(decoding: bytes, as: UTF8.self)
    }
}
