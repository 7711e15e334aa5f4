import DAOCore
import DAOTestSupport
import Foundation

@testable import DAOConformance

/// How the storages of a stub answer.
enum StubAnswers: Sendable, Hashable {
    /// Nothing is stored, and every answer is nil, empty or zero.
    case nothing
    /// Every call throws.
    case errors
    /// Every answer has its rows twice.
    case twice
    /// Every answer lacks its last row.
    case tooFew
    /// Every answer is in reverse order.
    case reversed
    /// Every third answer is empty.
    case sometimes
    /// Rows and counts that were never stored, extremes among them.
    case garbage
    /// Cursors that do not end.
    case endless
    /// The answers of a working database that declares that it does not detect truncation.
    case right
    /// A call that does not return.
    case blocks(Call)

    /// A call of a database or a storage.
    enum Call: String, Sendable, CaseIterable {
        case open, storage, read, write, cursor, transaction, close
    }

    static let all: [StubAnswers] = [.nothing, .errors, .twice, .tooFew, .reversed, .sometimes, .garbage, .endless]
}

/// An unfinished or broken database, as the author of a storage has it on the first day. Only its answers are wrong;
/// transactions are those of a working database.
final class StubDatabase: Database {
    private let base: any Database
    let answers: StubAnswers
    private let calls = Atomic(0)
    /// The calls that block no more.
    private static let unblocked = Lock<Set<StubAnswers.Call>>([])

    init(_ base: any Database, _ answers: StubAnswers) {
        self.base = base
        self.answers = answers
        waitIfBlocked(.open)
    }

    static func target(_ answers: StubAnswers) -> ConformanceTarget {
        ConformanceTarget(name: "\(answers)") { location in
            StubDatabase(try ArrayDatabase(location.name, limits: .init(isPersistent: true)), answers)
        }
    }

    var configuration: DatabaseConfiguration { base.configuration }
    var capabilities: Capabilities {
        var capabilities = base.capabilities
        capabilities.detectsTruncation = answers != .right
        return capabilities
    }
    var engineState: EngineState { base.engineState }

    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        waitIfBlocked(.storage)
        return StubStorage(base: try base.makeStorage(for: model), owner: self)
    }

    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        waitIfBlocked(.transaction)
        return try base.transaction(body)
    }

    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result { try base.snapshot(body) }

    func entities() throws -> [EntityDescription] { try answer(base.entities()) }

    func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result {
        try base.withEntityStore(access, body)
    }

    func close() throws {
        waitIfBlocked(.close)
        try base.close()
    }

    /// Does not return when the stub blocks in a call, until the call is unblocked.
    func waitIfBlocked(_ call: StubAnswers.Call) {
        while answers == .blocks(call), !Self.unblocked.withLock({ $0.contains(call) }) { Thread.sleep(forTimeInterval: 0.2) }
    }

    /// Lets the calls go on that stubs block in. Reads of observations hold threads of Dispatch, which starts two more a second for
    /// the whole process when all are blocked.
    static func unblock(_ call: StubAnswers.Call) { unblocked.withLock { _ = $0.insert(call) } }

    /// Changes a list into what the stub answers.
    func answer<Element>(_ list: @autoclosure () throws -> [Element]) rethrows -> [Element] {
        switch answers {
        case .nothing: []
        case .twice: try list().flatMap { [$0, $0] }
        case .tooFew: try list().dropLast()
        case .reversed: try list().reversed()
        case .sometimes: isThird() ? [] : try list()
        default: try list()
        }
    }

    /// Changes a number into what the stub answers.
    func answer(_ number: @autoclosure () throws -> Int) rethrows -> Int {
        switch answers {
        case .nothing: 0
        case .twice: try number() * 2
        case .tooFew: try number() - 1
        case .sometimes: isThird() ? 0 : try number()
        case .garbage: [Int.max, .min, -1][count(3)]
        default: try number()
        }
    }

    /// A number from zero that changes with every call.
    func count(_ bound: Int) -> Int { calls.add(1, ordering: .relaxed).newValue % bound }

    private func isThird() -> Bool { count(3) == 0 }
}

/// A storage whose answers are those of its database. All methods ask the base.
private struct StubStorage<Record: Model>: Storage {
    let base: any Storage<Record>
    let owner: StubDatabase

    var database: any Database { owner }
    private var answers: StubAnswers { owner.answers }

    func read(_ query: Query<Record>) throws -> [Record] { try rows { try base.read(query) } }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        try rows { try base.read(keys: keys, includesSubentities: includesSubentities) }
    }

    func read(key: Key) throws -> Record? { try rows { try base.read(key: key).map { [$0] } ?? [] }.first }

    func contains(key: Key) throws -> Bool { try reading { try owner.answer(base.contains(key: key) ? [()] : []).count > 0 } }

    func keys(_ query: Query<Record>) throws -> [Key] {
        if answers == .garbage { return try rows { [] }.map { Record.schema.key(of: $0) } + [.integer(.max), .string("?")] }
        return try reading { try owner.answer(base.keys(query)) }
    }

    func count(_ query: Query<Record>) throws -> Int { try reading { try owner.answer(base.count(query)) } }

    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        owner.waitIfBlocked(.cursor)
        let rows = try read(query)
        return answers == .endless ? EndlessCursor(rows) : ArrayCursor(rows)
    }

    func explain(_ query: Query<Record>) throws -> QueryPlan { try base.explain(query) }

    func insert(_ records: [Record]) throws { try writing { try base.insert(records) } }

    func insert(making records: () throws -> [Record]) throws { try writing { try base.insert(making: records) } }

    func upsert(_ records: [Record]) throws { try writing { try base.upsert(records) } }

    func upsert(making records: () throws -> [Record]) throws { try writing { try base.upsert(making: records) } }

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try owner.answer(
            writing {
                try base.merge(keys: keys) { index, record in
                    record = try rows { record.map { [$0] } ?? [] }.first
                    try body(index, &record)
                }
            } ?? 0)
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        try owner.answer(
            writing {
                try base.update(query) { record in
                    record = try rows { [record] }.first ?? record
                    try body(&record)
                }
            } ?? 0)
    }

    func erase(keys: [Key]) throws -> Int { try owner.answer(writing { try base.erase(keys: keys) } ?? 0) }

    func erase(_ query: Query<Record>) throws -> Int { try owner.answer(writing { try base.erase(query) } ?? 0) }

    /// The rows that the stub answers.
    private func rows(_ body: () throws -> [Record]) throws -> [Record] {
        try reading {
            guard answers == .garbage else { return try owner.answer(body()) }
            let entity = Record.schema.description
            var random = SeededGenerator(seed: UInt64(owner.count(1000)))
            return (0..<3).compactMap { _ in
                let values = entity.fields.map { random.value(of: $0.type.kind) }
                return try? Record.schema.decode(ValueRowReader(entity: entity, values: values))
            }
        }
    }

    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        owner.waitIfBlocked(.read)
        if answers == .errors { throw StorageError(.io, "the stub reads nothing") }
        return try body()
    }

    /// Writes, unless the stub stores nothing.
    @discardableResult
    private func writing<Result>(_ body: () throws -> Result) throws -> Result? {
        owner.waitIfBlocked(.write)
        if answers == .errors { throw StorageError(.io, "the stub writes nothing") }
        return answers == .nothing ? nil : try body()
    }
}

/// A cursor that gives the same rows again and again, for a test's eternity.
private final class EndlessCursor<Record: Model>: RowCursor<Record> {
    private let rows: [Record]
    private var remaining = 30_000

    init(_ rows: [Record]) {
        self.rows = rows
        super.init()
    }

    override func next(_ count: Int) throws -> [Record] {
        remaining -= 1
        return remaining > 0 ? Array(rows.prefix(count)) : []
    }
}
