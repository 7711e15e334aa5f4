import DAOCore
import DAOKeyValue
import DAOLMDB
import DAOSystemLMDB
import DAOTestSupport
import Foundation
import Testing

@Suite("LMDB: idle readers that keep their snapshots (contract C4)")
struct LMDBParkingTests {

    private let place = Place()

    /// The number of readers that keep a snapshot, of any process.
    private func snapshots(_ environment: OpaquePointer) -> Int {
        var count = 0
        _ = withUnsafeMutablePointer(to: &count) { count in
            mdb_reader_list(
                environment,
                { line, context in
                    let last = line.map { String(cString: $0) }?.split(whereSeparator: \.isWhitespace).last
                    if last.flatMap({ UInt64($0) }) != nil { context?.assumingMemoryBound(to: Int.self).pointee += 1 }
                    return 0
                }, count)
        }
        return count
    }

    private func environment(_ database: any Database) throws -> OpaquePointer {
        try database.snapshot { try database.underlying(as: LMDBHandle.self) { $0.environment } }
    }

    @Test("a process that reads keeps a snapshot, and gives it up when it writes, and when it has not read for a moment")
    func snapshotsEnd() throws {
        let (database, notes) = try Note.opened(in: place)
        defer { try? database.close() }
        let environment = try environment(database)
        var parked = 0
        for round in 0..<50 {
            for _ in 0..<40 { _ = try notes.read(byPrimaryKey: 1) }
            parked += snapshots(environment)
            try database.transaction {
                try notes.persist(Note(id: 1, text: "round \(round)"))
                #expect(snapshots(environment) == 0)
            }
            #expect(try notes.read(byPrimaryKey: 1)?.text == "round \(round)")
        }
        #expect(parked > 0)
        for _ in 0..<40 { _ = try notes.read(byPrimaryKey: 1) }
        let deadline = ContinuousClock.now + .seconds(20)
        while snapshots(environment) > 0, ContinuousClock.now < deadline { usleep(1_000) }
        #expect(snapshots(environment) == 0)
    }

    @Test("beside a write, readers keep the snapshot that it changes, see its commit, and keep no page from being used again")
    func snapshotsBesideAWrite() throws {
        let (database, notes) = try Note.opened(in: place)
        defer { try? database.close() }
        let environment = try environment(database)
        /// Reads on a thread that does not write.
        func read() -> [String] {
            let group = DispatchGroup()
            let texts = Lock<Set<String>>([])
            Thread.detachNewThread(in: group) {
                for _ in 0..<40 {
                    #expect(throws: Never.self) {
                        let text = try notes.read(byPrimaryKey: 1)?.text ?? ""
                        texts.withLock { _ = $0.insert(text) }
                    }
                }
            }
            group.wait()
            return texts.withLock { Array($0) }
        }
        func text(_ round: Int) -> String { String(repeating: "\(round % 10)", count: 20_000) }
        try notes.persist(Note(id: 1, text: text(0)))
        var (kept, lengths) = (0, [Int]())
        for round in 1...200 {
            try database.transaction {
                try notes.persist(Note(id: 1, text: text(round)))
                #expect(read() == [text(round - 1)])
                kept += snapshots(environment)
            }
            #expect(read() == [text(round)])
            lengths.append(try Data(contentsOf: URL(fileURLWithPath: place.path("notes.lmdb"))).count)
        }
        #expect(kept > 0)
        #expect(lengths.last == lengths[20])
    }

    @Test("a kept snapshot is that of the last commit, whichever thread reads")
    func commitsAreSeen() throws {
        let (database, notes) = try Note.opened(in: place)
        defer { try? database.close() }
        let commits = Commits()
        let group = DispatchGroup()
        for _ in 0..<4 {
            Thread.detachNewThread(in: group) {
                while commits.number < 500 {
                    let committed = commits.number
                    #expect(throws: Never.self) {
                        let text = try notes.read(byPrimaryKey: 2)?.text ?? ""
                        #expect(Int(text.dropFirst(7)) ?? 0 >= committed, "\(text) after \(committed)")
                    }
                }
            }
        }
        Thread.detachNewThread(in: group) {
            for number in 1...500 {
                #expect(throws: Never.self) { try notes.persist(Note(id: 2, text: "commit \(number)")) }
                commits.number = number
            }
        }
        group.wait()
    }

    @Test("the map grows while idle readers keep their snapshots")
    func growth() throws {
        let (database, notes) = try Note.opened(in: place, "&mapSize=1M")
        defer { try? database.close() }
        for start in stride(from: 10, to: 4_010, by: 100) {
            for _ in 0..<40 { _ = try notes.read(byPrimaryKey: 1) }
            try notes.persist((start..<start + 100).map { Note(id: $0, text: String(repeating: "x", count: 2_000)) })
        }
        #expect(try notes.count() == 4_003)
    }

    @Test("readers go on while the map grows and the file is compacted, and are refused once it is closed")
    func everythingAtOnce() throws {
        for round in 0..<4 {
            let place = Place()
            defer { withExtendedLifetime(place) {} }
            let (database, notes) = try Note.opened(in: place, "&mapSize=1M")
            let isClosed = Lock(false)
            let group = DispatchGroup()
            for thread in 0..<6 {
                Thread.detachNewThread(in: group) {
                    var reads = 0
                    while true {
                        do {
                            let texts = try database.snapshot {
                                try (1...2).map { try notes.read(byPrimaryKey: $0)?.text.dropFirst() }
                            }
                            #expect(texts[0] == texts[1] || texts[0] == "ext 1")
                            reads += 1
                            // Some hold no snapshot for a moment.
                            if thread % 2 == 0, reads % 50 == 0 { usleep(500) }
                        } catch {
                            #expect((error as? StorageError)?.kind == .closed)
                            return #expect(isClosed.withLock { $0 })
                        }
                    }
                }
            }
            for number in 1...30 {
                try database.transaction {
                    try notes.persist((1...2).map { Note(id: $0, text: "\($0) \(number)") })
                    try notes.persist((100..<150).map { Note(id: number * 100 + $0, text: String(repeating: "x", count: 2_000)) })
                }
                if number % 10 == 5 { try database.compact() }
            }
            #expect(try notes.count() == 1_503, "round \(round)")
            isClosed.withLock { $0 = true }
            try database.close()
            group.wait()
        }
    }

    @Test("a transaction that has ended stays so when its snapshot is used again")
    func ended() throws {
        let store = try LMDBStore(path: place.path("store.lmdb"), options: LMDBOptions(durability: .relaxed))
        defer { store.close() }
        try store.write { try $0.store([1], [7]) }
        var transactions: [any KeyValueTransaction] = []
        for _ in 0..<40 {
            let transaction = try store.begin(.read)
            #expect(try transaction.value([1]) == [7])
            transaction.abort()
            transactions.append(transaction)
        }
        let last = try store.begin(.read)
        for transaction in transactions { #expect(throws: StorageError.self) { try transaction.value([1]) } }
        #expect(try last.value([1]) == [7])
        last.abort()
    }
}

/// The number of the last commit that has returned.
private final class Commits: Sendable {
    private let last = Lock(0)
    var number: Int {
        get { last.withLock { $0 } }
        set { last.withLock { $0 = newValue } }
    }
}
