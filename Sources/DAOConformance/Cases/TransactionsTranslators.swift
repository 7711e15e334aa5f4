import DAOCore
import Foundation

/// T1 and T3 inside translators: a translator that calls another translator or looks up rows joins the call
/// around it and sees the writes of that call.
enum TransactionsTranslators {
    static let cases: [ConformanceCase] = joining + failing + contending + observing

    /// Returns the rows of all three entities.
    private static func dump(_ dao: DAO<FolderTranslator>) throws -> [String] {
        let pages = dao.translator.pages
        return try Dump.rows(of: dao.storage) + Dump.rows(of: pages.storage) + Dump.rows(of: pages.translator.counters)
    }

    /// Fails unless exactly these folders are stored, and their pages have the serial numbers from 1, each
    /// once.
    private static func check(_ database: any Database, _ folders: [FolderPlain]) throws {
        try expectEqual(try database.folders().read(), folders, "the folders with their pages")
        let serials = try database.storage(for: PageModel.self).read(Query()).map(\.serial).sorted()
        let count = folders.reduce(0) { $0 + $1.pages.count }
        try expectEqual(serials, Array(0..<count).map { $0 + 1 }, "the serial numbers of the pages")
        try expectEqual(try database.dao(Counter.self).read(byPrimaryKey: 0)?.value ?? 0, count, "the counter of serial numbers")
    }

    private static let joining: [ConformanceCase] = [
        ConformanceCase(
            "T.nestedCreate", "T3", "T1",
            title: "a translator that stores through a second, which looks rows up, sees the earlier writes of the call"
        ) { context in
            let database = try context.open()
            let folders = FolderPlain.make(1...4, pages: 5)
            try database.folders().create(folders)
            try check(database, folders)
        },
        ConformanceCase(
            concurrent: "T.nestedCreateAsync", "T3", "T1",
            title: "the asynchronous form of a call with nested translators stores the same rows"
        ) { context in
            let database = try context.open()
            let folders = FolderPlain.make(1...4, pages: 5)
            let dao = try database.folders()
            try await dao.create(Array(folders.prefix(2)))
            try await dao.persist(Array(folders.suffix(2)))
            try check(database, folders)
            let read = try await dao.read()
            try expectEqual(read, folders, "the folders, read asynchronously")
        },
        ConformanceCase(
            "T.nestedMerge", "T3", "W2",
            title: "merging translators keep local fields at every level, and erase the pages that are not given"
        ) { context in
            let database = try context.open()
            let (dao, pages) = (try database.folders(), try database.storage(for: PageModel.self))
            try dao.persist(FolderPlain.make(1...3, pages: 4))
            try dao.update(where: { $0.id == 2 }) { $0.color = "red" }
            let serial = try require(try pages.read(key: .integer(21)), "page 21").serial
            var second = FolderPlain.make([2], pages: 4, title: "changed")[0]
            second.pages.remove(at: 0)
            second.pages.append(PagePlain(id: 11, folder: 2, text: "moved here"))
            second.pages.sort { $0.id < $1.id }
            try dao.persist([second])
            try expectEqual(try dao.read(byPrimaryKey: 2), second, "the folder after the merge")
            try expectEqual(try dao.storage.read(key: .integer(2))?.color, "red", "the local field of the folder")
            try expectEqual(try pages.read(key: .integer(21))?.serial, serial, "the local field of a page")
            try expectEqual(try dao.read(byPrimaryKey: 1)?.pages.map(\.id), [10, 12, 13], "the folder that lost a page")
            try expectEqual(try pages.count(Query()), 11, "pages")
        },
        ConformanceCase(
            "T.nestedInTransaction", "T3", "T1",
            title: "nested translators see the rows of their transaction, and readers outside see none of their writes",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let dao = try database.folders()
            try dao.persist(FolderPlain.make([1], pages: 2))
            let before = try dump(dao)
            func outside() throws {
                let reader = Background { try expectEqual(try dump(dao), before, "the rows that readers outside see") }
                try reader.wait(seconds: 20, "a reader during the transaction")
            }
            try database.transaction {
                // An uncommitted counter value. The translators below have to continue from it.
                try database.dao(Counter.self).persist(Counter(id: 0, value: 100))
                try dao.persist(FolderPlain.make([2], pages: 2))
                try outside()
                let serials = try database.storage(for: PageModel.self).read(Query(where: Condition { $0.folder == 2 })).map(
                    \.serial)
                try expectEqual(serials, [101, 102], "serial numbers that continue from the transaction's counter")
                try expectEqual(try dao.read(byPrimaryKey: 2)?.pages.count, 2, "pages read inside")
            }
            try expectEqual(try dao.read().map(\.pages.count), [2, 2], "pages after the commit")
        },
        ConformanceCase(
            concurrent: "T.nestedInTransactionAsync", "T3", "T1",
            title: "nested translators see the rows of their transaction also on the writer's thread"
        ) { context in
            let database = try context.open()
            let dao = try database.folders()
            let serials = try await database.transaction {
                try database.dao(Counter.self).persist(Counter(id: 0, value: 100))
                try dao.persist(FolderPlain.make([2], pages: 2))
                return try dao.translator.pages.storage.read(Query()).map(\.serial)
            }
            try expectEqual(serials, [101, 102], "serial numbers that continue from the transaction's counter")
        },
    ]

    private static let failing: [ConformanceCase] = [
        ConformanceCase(
            "T.nestedFailure", "T1", "W3",
            title: "an error in the innermost translator undoes the writes of all translators, and is thrown unchanged"
        ) { context in
            let database = try context.open()
            let dao = try database.folders()
            try dao.persist(FolderPlain.make(1...2, pages: 3))
            let before = try dump(dao)
            for failing in 0..<3 {
                var folders = FolderPlain.make(2...4, pages: 3, title: "new")
                folders[failing].pages[1].text = "poison"
                let error = DeliberateError(number: folders[failing].pages[1].id)
                try expectDeliberate(error, "a persist that fails at folder \(failing)") { try dao.persist(folders) }
                try expectEqual(try dump(dao), before, "the rows after a persist that failed at folder \(failing)")
                folders.removeFirst()
                guard failing > 0 else { continue }
                try expectDeliberate(error, "a create that fails at folder \(failing)") { try dao.create(folders) }
                try expectEqual(try dump(dao), before, "the rows after a create that failed at folder \(failing)")
            }
        },
        ConformanceCase(
            "T.nestedFailureInside", "T1", "T2", "W3",
            title: "inside a transaction that continues, such a failure undoes only its call", requires: [.savepoints]
        ) { context in
            let database = try context.open()
            let dao = try database.folders()
            var poisoned = FolderPlain.make(2...3, pages: 3)
            poisoned[1].pages[2].text = "poison"
            try database.transaction {
                try dao.persist(FolderPlain.make([1], pages: 3))
                try expectDeliberate(DeliberateError(number: 32)) { try dao.persist(poisoned) }
                try dao.persist(FolderPlain.make([4], pages: 3))
            }
            try check(database, FolderPlain.make([1, 4], pages: 3))
        },
        ConformanceCase(
            concurrent: "T.nestedFailureAsync", "T1", "W3",
            title: "a failure in nested translators of an asynchronous call leaves nothing either"
        ) { context in
            let database = try context.open()
            let dao = try database.folders()
            try await dao.persist(FolderPlain.make([1], pages: 3))
            let before = try dump(dao)
            var poisoned = FolderPlain.make(1...3, pages: 3, title: "new")
            poisoned[2].pages[2].text = "poison"
            let folders = poisoned
            do {
                try await dao.persist(folders)
                throw fail("expected the innermost translator's error")
            } catch let error as DeliberateError {
                try expectEqual(error, DeliberateError(number: 32), "the error")
            }
            try expectEqual(try dump(dao), before, "the rows after the failure")
        },
    ]

    private static let contending: [ConformanceCase] = [
        ConformanceCase(
            "T.nestedOnThreads", "T4", "C1", "T3",
            title: "nested translators on many threads neither deadlock nor count a row twice",
            requires: [.serialWriters]
        ) { context in
            let database = try context.open()
            let dao = try database.folders()
            try onThreads(4) { thread in
                for round in 0..<10 { try dao.persist(FolderPlain.make([1 + thread * 10 + round], pages: 3)) }
            }
            try check(database, FolderPlain.make(1...40, pages: 3))
        },
        ConformanceCase(
            concurrent: "T.nestedInTasks", "T4", "C1", "T3",
            title: "nested translators in many tasks, beside synchronous calls, neither deadlock nor count a row twice",
            requires: [.serialWriters]
        ) { context in
            let database = try context.open()
            let dao = try database.folders()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 1...20 {
                    group.addTask { try await dao.persist(FolderPlain.make([id], pages: 3)) }
                }
                group.addTask {
                    try await Task.detached(executorPreference: TaskThreads.shared) {
                        let blocking = Background { for id in 21...30 { try dao.persist(FolderPlain.make([id], pages: 3)) } }
                        try blocking.wait(seconds: 60, "the synchronous calls")
                    }.value
                }
                try await group.waitForAll()
            }
            try check(database, FolderPlain.make(1...30, pages: 3))
        },
    ]

    private static let observing: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.translatorsReadTheSameCommit", "O1", "T3",
            title: "the translator of an observation reads the commit that its rows belong to", requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let dao = try database.folders()
            try await dao.persist(FolderPlain.make([1], pages: 0, title: "0"))
            let writer = Task.detached(executorPreference: TaskThreads.shared) {
                // The title contains the number of pages.
                for count in 1...9 { try await dao.persist(FolderPlain.make([1], pages: count, title: "\(count)")) }
            }
            for try await folders in dao.observe() {
                let folder = try require(folders.first, "a folder")
                try expectEqual(folder.title, "\(folder.pages.count) 1", "the title, which contains the number of pages")
                if folder.pages.count == 9 { break }
            }
            try await writer.value
        }
    ]
}
