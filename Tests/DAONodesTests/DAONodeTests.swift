import DAOCore
import DAONodes
import DAOTransport
import Foundation
import Testing

@testable import DAOExamples

/// The name differs from the testing library's `Tag`.
private typealias Label = DAOExamples.Tag

@Suite(.timeLimit(.minutes(30))) struct DAONodeTests {
    private func returning<Input: Sendable>(_ dialogs: [Dialog]) -> ClosureNode<Input, [Dialog]> {
        ClosureNode { _ in .emit(data: dialogs) }
    }

    // MARK: Reading

    @Test(arguments: backends) func readsAllByConditionAndByKeys(_ kind: String) async throws {
        try await withDialogs(kind) { _, dialogs in
            let all = [dialog(1, [10, 11]), dialog(2, isPinned: true, [20]), dialog(3), dialog(10, isPinned: true)]
            try await dialogs.persist(all)

            #expect(try await ReadNode<Void, DialogTranslator>(dialogs).value() == all)
            #expect(try await ReadNode<Void, _>(dialogs, orderedBy: .descending(\.id), limit: 2).value() == [all[3], all[2]])
            let pinned = ReadNode(dialogs) { (fields, isPinned: Bool) in fields.isPinned == isPinned }
            #expect(try await pinned.value(for: true) == [all[1], all[3]])
            #expect(try await pinned.process(false).value == [all[0], all[2]])
            let keys = ReadNode(dialogs, keys: { (ids: [Int]) in ids.map { UniqueID($0) } })
            #expect(try await keys.value(for: [10, 99, 1, 10]) == [all[3], all[0]])
            let page = ReadNode(dialogs, query: { (offset: Int) in Query(limit: 1, offset: offset) })
            #expect(try await page.value(for: 1) == [all[1]])
            await #expect(throws: StorageError.self) { try await page.value(for: -1) }
        }
    }

    @Test(arguments: backends) func readsOneValueOrThrowsNotFound(_ kind: String) async throws {
        try await withDialogs(kind) { _, dialogs in
            try await dialogs.persist([dialog(1), dialog(2, isPinned: true, [20]), dialog(3, isPinned: true)])

            #expect(try await ReadOneNode<Int, _>(dialogs).value(for: 2) == dialog(2, isPinned: true, [20]))
            #expect(try await ReadOneNode<UniqueID, _>(dialogs).value(for: 1) == dialog(1))
            #expect(try await ReadOneNode<String, _>(dialogs).value(for: "3").id == 3)
            await #expect(throws: ReadError.notFound) { try await ReadOneNode<Int, _>(dialogs).value(for: 9) }
            await #expect(throws: StorageError.self) { try await ReadOneNode<String, _>(dialogs).value(for: "none") }

            let last = ReadOneNode(dialogs, orderedBy: .descending(\.id)) { (fields, isPinned: Bool) in
                fields.isPinned == isPinned
            }
            #expect(try await last.value(for: true).id == 3)
            let nothing = ReadOneNode(dialogs, query: { (_: Void) in Query(limit: 0) })
            await #expect(throws: ReadError.notFound) { try await nothing.value() }
        }
    }

    @Test(arguments: backends) func nodeAndTranslatorReadTheSameSnapshot(_ kind: String) async throws {
        try await withDialogs(kind) { _, dialogs in
            try await dialogs.persist([dialog(1, [10, 11])])
            // Another writer replaces the messages just before the translator reads them.
            let isWritten = Counter()
            let watched = dialogs.watched(willRead: { _ in
                guard isWritten.increment() == 1 else { return }
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    try? dialogs.persist([dialog(1, isPinned: true, [12])])
                    done.signal()
                }
                done.wait()
            })
            #expect(try await ReadNode<Void, _>(watched).value() == [dialog(1, [10, 11])])
            #expect(try await ReadNode<Void, _>(watched).value() == [dialog(1, isPinned: true, [12])])
        }
    }

    // MARK: Persisting

    @Test(arguments: backends) func persistNodeReturnsStoredValues(_ kind: String) async throws {
        try await withDialogs(kind) { _, dialogs in
            try await dialogs.persist([dialog(1, [10, 11]), dialog(5, [50])])
            try await dialogs.update(where: { $0.id == 1 }) { $0.isMuted = true }

            let arrived = [dialog(3, [30]), dialog(1, isPinned: true, [11]), dialog(3, isPinned: true, [31])]
            let node = PersistNode(dialogs, next: returning(arrived) as ClosureNode<Void, _>)
            let stored = [dialog(3, isPinned: true, [31]), dialog(1, isPinned: true, [11])]
            #expect(try await node.value() == stored, "the values of the received keys, in their order, each once")
            #expect(try await node.process().value == stored)
            #expect(try await dialogs.read().map(\.id) == [1, 3, 5], "values that were not received stay")
            #expect(try dialogs.storage.read(key: .integer(1))?.isMuted == true, "fields that the values do not have stay")
            #expect(try await dialogs.translator.messages.read().map(\.id) == [11, 31, 50])
            #expect(try await PersistNode(dialogs, next: returning([]) as ClosureNode<Void, _>).value().isEmpty)
        }
    }

    @Test(arguments: backends) func replacingErasesMissingValues(_ kind: String) async throws {
        try await withDialogs(kind) { _, dialogs in
            let before = [dialog(1), dialog(2, isPinned: true), dialog(3, isPinned: true)]
            try await dialogs.persist(before)

            let pinned = PersistNode(dialogs, next: returning([dialog(3, isPinned: true), dialog(4)])) {
                (fields, isPinned: Bool) in
                fields.isPinned == isPinned
            }
            #expect(try await pinned.value(for: true).map(\.id) == [3, 4])
            #expect(try await dialogs.read().map(\.id) == [1, 3, 4], "only values that match the condition are replaced")

            let mirror = PersistNode(dialogs, next: returning([dialog(9)]) as ClosureNode<Void, _>, replacing: .all)
            #expect(try await mirror.value() == [dialog(9)])
            #expect(try await dialogs.read() == [dialog(9)])
            #expect(try await PersistNode(dialogs, next: returning([]) as ClosureNode<Void, _>, replacing: .all).value().isEmpty)
            #expect(try await dialogs.count() == 0)
        }
    }

    @Test(arguments: backends) func replacingErasesAtMostItsLimit(_ kind: String) async throws {
        try await withDialogs(kind) { _, dialogs in
            let all = (1...10).map { dialog($0, isPinned: $0 > 2, [$0 * 10]) }
            try await dialogs.persist(all)
            let before = try dump(dialogs)
            func mirror(_ arrived: [Dialog], _ limit: ErasureLimit) -> PersistNode<Void, DialogTranslator> {
                PersistNode(dialogs, next: returning(arrived), replacing: .all, erasingAtMost: limit)
            }
            let refused: [(Int, ErasureLimit)] = [
                (0, .rows(9)), (4, .rows(5)), (4, .fraction(0.5)), (9, .rows(0)), (9, .fraction(0)), (9, .rows(-1)),
                (9, .fraction(.nan)), (0, .fraction(0.99)),
            ]
            for (kept, limit) in refused {
                let error = ErasureLimitError(entity: "dialog", erased: 10 - kept, stored: 10)
                await #expect(throws: error) { try await mirror(all.prefix(kept) + [dialog(11)], limit).value() }
                await #expect(throws: error) { try await mirror(Array(all.prefix(kept)), limit).process().value }
                #expect(try dump(dialogs) == before)
            }
            for (kept, limit) in [(10, ErasureLimit.rows(0)), (10, .fraction(.nan)), (9, .rows(1)), (5, .fraction(0.5))] {
                #expect(try await mirror(Array(all.prefix(kept)), limit).value().count == kept)
            }
            // Of the rows that match, not of all.
            let pinned = PersistNode(dialogs, next: returning([]) as ClosureNode<Bool, _>, erasingAtMost: .rows(3)) {
                (fields, isPinned: Bool) in
                fields.isPinned == isPinned
            }
            #expect(try await pinned.value(for: true).isEmpty)
            #expect(try await dialogs.count() == 2)
        }
    }

    @Test(arguments: backends) func uniqueValueMovesFromAReplacedRow(_ kind: String) async throws {
        try await withDatabase(kind) { database in
            let tags = DAO(storage: try database.storage(for: Label.self))
            try await tags.persist([Label(id: 1, name: "a"), Label(id: 2, name: "b")])
            let arrived = ClosureNode<Void, [Label]> { .emit(data: [Label(id: 3, name: "a"), Label(id: 2, name: "b")]) }
            #expect(try await PersistNode(tags, next: arrived, replacing: .all).value().map(\.id) == [3, 2])
            #expect(try await tags.read().map(\.id) == [2, 3])

            // A conflict with a remaining row undoes all changes, including the erased rows.
            let clash = ClosureNode<Void, [Label]> { .emit(data: [Label(id: 4, name: "c"), Label(id: 5, name: "b")]) }
            let node = PersistNode(tags, next: clash) { fields, _ in fields.id == 3 }
            let error = await #expect(throws: StorageError.self) { try await node.value() }
            #expect(error?.kind == .uniqueViolation)
            #expect(try await tags.read().map(\.id) == [2, 3])
        }
    }

    @Test(arguments: backends) func emissionsAreStoredInOrder(_ kind: String) async throws {
        try await withDialogs(kind) { (_, dialogs) async throws in
            let source = Context<[Dialog]>(keepsEveryOutcome: true)
            let outcomes = Locked<[String]>([])
            let observer = PersistNode(dialogs, next: ClosureNode<Void, _> { source }).process()
            for index in 0..<40 {
                if index == 20 { source.emit(error: Failure("x")) }
                source.emit(data: [dialog(1, isPinned: index == 39, [index])])
            }
            source.finish()
            observer.onCompleted { dialogs in outcomes.withLock { $0.append("\(dialogs[0].messages[0].id)") } }
                .onError { error in outcomes.withLock { $0.append("\(error)") } }
            #expect(await eventually { outcomes.withLock { $0.count } == 41 })
            let expected = (0..<20).map { "\($0)" } + ["\(Failure("x"))"] + (20..<40).map { "\($0)" }
            #expect(outcomes.withLock { $0 } == expected)
            #expect(try await dialogs.read() == [dialog(1, isPinned: true, [39])])
        }
    }

    @Test(arguments: backends) func bothEmissionsOfFirstCacheNodeAreStored(_ kind: String) async throws {
        try await withDialogs(kind) { _, dialogs in
            try await dialogs.persist([dialog(1)])
            let first = FirstCacheNode(
                stored: ReadNode(dialogs), network: PersistNode(dialogs, next: returning([dialog(2)]) as ClosureNode<Void, _>))
            var seen: [[Int]] = []
            for try await page in first.values() { seen.append(page.map(\.id)) }
            #expect(seen == [[1], [2]])
            #expect(try await dialogs.count() == 2)
        }
    }

    // MARK: Erasing

    @Test(arguments: backends) func eraseNodeReturnsTheNumberOfErasedValues(_ kind: String) async throws {
        try await withDialogs(kind) { _, dialogs in
            try await dialogs.persist((1...6).map { dialog($0, isPinned: $0 % 2 == 0) })
            #expect(try await EraseNode(dialogs, keys: { (id: Int) in [UniqueID(id), UniqueID(99)] }).value(for: 1) == 1)
            let pinned = EraseNode(dialogs) { (fields, least: Int) in fields.isPinned == true && fields.id >= least }
            #expect(try await pinned.value(for: 4) == 2)
            #expect(try await EraseNode(dialogs, query: { (_: Void) in Query(limit: 1) }).value() == 1)
            #expect(try await dialogs.read().map(\.id) == [3, 5])
            let everything = EraseNode<Void, DialogTranslator>(dialogs)
            #expect(try await everything.process().value == 2)
            #expect(try await everything.value() == 0)
        }
    }

    // MARK: Errors

    @Test(arguments: backends) func errorLeavesTheDatabaseUnchanged(_ kind: String) async throws {
        try await withDialogs(kind) { _, dialogs in
            try await dialogs.persist([dialog(1, [10]), dialog(2, [20])])
            let before = try dump(dialogs)
            let failing = dialogs.watched(willStore: { if $0.id == 3 { throw Failure("third") } })
            let arrived = returning([dialog(1, isPinned: true, [11]), dialog(4, [40]), dialog(3, [30])]) as ClosureNode<Void, _>
            await #expect(throws: Failure("third")) { try await PersistNode(failing, next: arrived, replacing: .all).value() }
            #expect(try dump(dialogs) == before)
            await #expect(throws: Failure("wire")) {
                try await PersistNode(dialogs, next: ClosureNode<Void, _> { .emit(error: Failure("wire")) }, replacing: .all)
                    .value()
            }
            #expect(try dump(dialogs) == before)
        }
    }

    @Test(arguments: backends) func storageErrorsPassUnchangedOrMapped(_ kind: String) async throws {
        try await withDialogs(kind) { database, dialogs in
            try database.close()
            let read = ReadNode<Void, DialogTranslator>(dialogs)
            let nodes: [any Node<Void, [Dialog]>] = [read, PersistNode(dialogs, next: returning([dialog(1)]))]
            for node in nodes {
                let error = await #expect(throws: StorageError.self) { try await node.value() }
                #expect(error?.kind == .closed)
                await #expect(throws: ReadError.cantConnect) { try await ErrorMapperNode(next: node) { ReadError($0) }.value() }
            }
            let erase = EraseNode<Void, DialogTranslator>(dialogs)
            await #expect(throws: ReadError.cantConnect) { try await ErrorMapperNode(next: erase) { ReadError($0) }.value() }
        }
    }

    @Test func everyKindOfStorageErrorHasAReadError() {
        func kinds(_ word: ReadError) -> Set<StorageError.Kind> {
            Set(StorageError.Kind.allCases.filter { ReadError(StorageError($0, "")) == word })
        }
        #expect(kinds(.notFound).isEmpty, "a missing value is not an error of the database")
        #expect(kinds(.cantConnect).isSuperset(of: [.closed, .busy, .notFound, .notADatabase, .corrupted, .schemaIsNewer]))
        #expect(kinds(.badRequest).isSuperset(of: [.invalidPredicate, .invalidKey, .duplicateKey, .uniqueViolation, .readOnly]))
        #expect(kinds(.undefined) == [.corruptedValue])
        #expect(ReadError(Failure("x") as any Error) == .undefined)
        #expect(ReadError(ReadError.notFound as any Error) == .notFound)
    }

    // MARK: Cancellation

    @Test(arguments: backends) func cancelledWorkThatWaitsForTheWriterIsNotDone(_ kind: String) async throws {
        try await withDialogs(kind) { database, dialogs in
            try await dialogs.persist([dialog(1)])
            let busy = try await BusyWriter(database)
            let persist = Task { try await PersistNode(dialogs, next: returning([dialog(2)]) as ClosureNode<Void, _>).value() }
            let erase = EraseNode<Void, DialogTranslator>(dialogs).process()
            let log = Log()
            log.follow(erase)
            try await Task.sleep(for: .milliseconds(50))
            persist.cancel()
            erase.cancel()
            try await busy.end()
            await #expect(throws: CancellationError.self) { try await persist.value }
            #expect(log.all == ["cancelled", "defer"])
            try await database.engineState.executor.write {}
            #expect(try await dialogs.read() == [dialog(1)])
        }
    }

    // MARK: The program of the documentation, with a database

    private struct Person: Plain, Model, Equatable {
        var id: Int
        var name: String
        static let schema = Schema("person", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
    }

    @Test(arguments: backends) func documentedProgramReadsFromADatabase(_ kind: String) async throws {
        try await withDatabase(kind) { database in
            let people = DAO(storage: try database.storage(for: Person.self))
            let names = ["Ann", "O'Brien", "' OR '1'='1", "\"; DROP TABLE person; --", "%@", "Robert\\"]
            try await people.persist(names.enumerated().map { Person(id: $0, name: $1) })

            let queue = DispatchQueue.named("people")
            let reader = ReadOneNode(people, query: { (name: String) in Query(where: Condition("name == %@", name)) })
            let chain = DispatcherNode(next: ErrorMapperNode(next: reader) { ReadError($0) }, on: queue)
            let log = Log()
            queue.suspend()
            let observer = chain.process("Ann")
            observer.onCompleted { log.add("\($0.id) on \(DispatchQueue.currentName ?? "")") }
            log.add("returned")
            queue.resume()
            #expect(await eventually { log.all == ["returned", "0 on people"] })

            for (id, name) in names.enumerated() { #expect(try await chain.value(for: name) == Person(id: id, name: name)) }
            for absent in ["", "nobody", "' OR 1=1 --", "Ann' --"] {
                await #expect(throws: ReadError.notFound) { try await chain.value(for: absent) }
            }
            func mapped(_ text: String) -> ErrorMapperNode<String, Person> {
                let reader = ReadOneNode(people, query: { (name: String) in Query(where: Condition(text, name)) })
                return ErrorMapperNode(next: reader) { ReadError($0) }
            }
            await #expect(throws: ReadError.badRequest) { try await mapped("nickname == %@").value(for: "Ann") }
            let failing = ReadOneNode(people, query: { (_: String) in throw Failure("x") })
            await #expect(throws: ReadError.undefined) {
                try await ErrorMapperNode(next: failing) { ReadError($0) }.value(for: "Ann")
            }
            try database.close()
            await #expect(throws: ReadError.cantConnect) { try await chain.value(for: "Ann") }
        }
    }
}
