import DAOCore
import DAOTestSupport
import Foundation

/// A shape of the measured records: eight fields, two of them indexed. Creating texts hides what a field costs, so there is a
/// shape with three texts and a shape with one. Its rows are also written and read manually, without a layer in between.
protocol MeasuredRecord: Plain, Model, Equatable {
    /// The translator that merges receipts.
    associatedtype ReceiptTranslator: Translator where ReceiptTranslator.Plain == Receipt, ReceiptTranslator.Model == Self

    var id: Int { get }
    var senderId: Int { get }
    var date: Date { get }
    var text: String { get }
    var isRead: Bool { get set }
    var rating: Double { get set }

    /// Makes a record with random values for the other fields.
    init(id: Int, senderId: Int, date: Date, _ random: inout SeededGenerator)

    static var receipts: ReceiptTranslator { get }
    static var senderField: KeyPath<Self, Int> { get }
    static var dateField: KeyPath<Self, Date> { get }
    static var ratingField: KeyPath<Self, Double> { get }

    func add(to checksum: inout Checksum)

    // MARK: SQLite, manually

    /// The columns of the table.
    static var columns: String { get }
    /// Reads a row of all columns.
    init(row: OpaquePointer)
    /// Binds all columns, without copies of texts, for the time of a closure.
    func bind(to statement: OpaquePointer, _ body: () throws -> Void) throws

    // MARK: LMDB, manually: the fields that all shapes have are at the places of `RecordPlace`

    /// Reads a record.
    init(record: UnsafeRawPointer, count: Int)
    /// Writes a record, and returns its length.
    func write(to buffer: UnsafeMutableRawPointer) -> Int
}

/// The places of the fields in the records of LMDB.
enum RecordPlace {
    static let (id, sender, date, rating, isRead) = (0, 8, 16, 24, 32)
}

/// The part of a record that an application shows: two fields that change, and the key.
struct Receipt: Plain {
    let id: Int
    let isRead: Bool
    let rating: Double
    var uniqueId: UniqueID { UniqueID(id) }
}

/// The same rows in every run.
struct Dataset<Record: MeasuredRecord> {
    /// The number of senders; each has about as many records.
    let senderCount: Int
    let records: [Record]
    let receipts: [Receipt]
    /// Records that are not among the others.
    let fresh: [Record]
    /// The keys of 10,000 records, or of half of them where they are fewer, in no order.
    let erased: [Int]
    let pointKeys: [Int]
    let senders: [Int]
    /// Spans of time with about 1,000 records each.
    let spans: [Range<Date>]
    let dialogs: [Dialog]

    init(count: Int, points: Int = 20_000, queries: Int = 2_000) {
        var random = SeededGenerator(seed: 42)
        let senderCount = max(count / 100, 1)
        self.senderCount = senderCount
        let date = { (minutes: Int) in Date(timeIntervalSinceReferenceDate: Double(minutes) * 60) }
        func record(_ index: Int) -> Record {
            Record(
                id: index, senderId: Int(random.next() % UInt64(senderCount)),
                date: date(index).addingTimeInterval(Double(random.next() % 7200)), &random)
        }
        records = (0..<count).map(record)
        receipts = records.map { Receipt(id: $0.id, isRead: !$0.isRead, rating: $0.rating + 1) }
        pointKeys = (0..<points).map { _ in random.below(count) }
        senders = (0..<queries).map { _ in random.below(senderCount) }
        spans = (0..<queries / 10).map { _ in
            let first = random.below(max(count - 1000, 1))
            return date(first)..<date(first + 1000)
        }
        dialogs = Dialog.all(from: records)
        fresh = (count..<count + 500).map(record)
        erased = Array((0..<count).shuffled(using: &random).prefix(min(10_000, count / 2)))
    }

    /// The records, each with another rating. Made when it is needed: what lies in memory changes what reading costs.
    func changed() -> [Record] {
        records.map { record in
            var changed = record
            changed.rating += 2
            return changed
        }
    }

    /// Five hundred changes, spread over the rows and unique to the round.
    func commits(_ round: Int) -> [Receipt] {
        let step = max(receipts.count / 500, 1)
        return stride(from: 0, to: receipts.count, by: step).prefix(500).map { index in
            Receipt(id: index, isRead: round % 2 == 0, rating: 1000 + Double(round))
        }
    }
}

extension SeededGenerator {
    /// A text of letters and spaces.
    mutating func text(of lengths: Range<Int>) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz      ".utf8)
        return String(decoding: (0..<(lengths.lowerBound + below(lengths.count))).map { _ in pick(letters) }, as: UTF8.self)
    }
}

/// Adds up results, to verify that both sides have read the same values.
struct Checksum: Equatable {
    private(set) var sum: UInt64 = 0
    mutating func add(_ number: UInt64) { sum = sum &* 31 &+ number }
    mutating func add(_ records: [some MeasuredRecord]) { for record in records { record.add(to: &self) } }
}
