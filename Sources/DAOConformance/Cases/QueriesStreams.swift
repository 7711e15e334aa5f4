import DAOCore
import Foundation

/// Q6: reading rows one by one.
enum QueriesStreams {
    static let cases: [ConformanceCase] = order + snapshots + abandoned + tasks

    /// Reads a cursor to its end.
    private static func drain<Record: Numbered>(_ cursor: RowCursor<Record>, by count: Int) throws -> [Int] {
        var ids: [Int] = []
        try cursor.forEachBatch(of: count) { ids += $0.map(\.id) }
        return ids
    }

    private static let order: [ConformanceCase] = [
        ConformanceCase("Q.cursorReadsAll", "Q6", title: "batches of any size give the rows of the query, in order") { context in
            let reference = try ReferenceRows(context, Probe.random(70, seed: 81))
            var random = ProbeQueries(seed: 82)
            for round in 0..<40 {
                let query = Query(
                    where: random.next(), orderedBy: random.order(), limit: round % 2 == 0 ? nil : 13,
                    offset: round % 4 == 3 ? 5 : 0)
                let expected = try reference.ids(query)
                for count in [1, 7, 1000] {
                    let cursor = try reference.dao.storage.cursor(query)
                    try expectEqual(try drain(cursor, by: count), expected, "query \(round) by \(count)")
                    try expectEqual(try cursor.next(5).count, 0, "rows after the end")
                }
            }
        },
        ConformanceCase("Q.forEach", "Q6", title: "forEach visits all rows of the query, in several batches") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...1000))
            var visited: [Int] = []
            try dao.forEach(Query(where: Condition { $0.number > 2000 }, orderedBy: [.descending(\.number)])) {
                visited.append($0.id)
                try expect(visited.count <= 1000, "the rows to end")
            }
            try expectEqual(visited, (201...1000).reversed())
        },
        ConformanceCase(
            "Q.forEachThrows", "Q6", title: "forEach throws the error of its closure unchanged, and the database stays usable"
        ) {
            context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...1000))
            var visits = 0
            try expectDeliberate(DeliberateError(number: 300)) {
                try dao.forEach { item in
                    visits += 1
                    if item.id == 300 { throw DeliberateError(number: 300) }
                }
            }
            try expectEqual(visits, 300, "the visits")
            try dao.create(Item(id: 2000, name: "after"))
            try expectEqual(try dao.count(), 1001)
        },
    ]

    private static let snapshots: [ConformanceCase] = [
        ConformanceCase(
            "Q.cursorSnapshot", "Q6", "T3", title: "a cursor continues in the state in which it began, whatever is committed",
            requires: [.snapshotReads]
        ) { context in
            for order in [[], [Sort<Item>.ascending(\.number)], [.descending(\.number)], [.ascending(\.name)]] {
                let dao = try context.dao(Item.self)
                try dao.erase()
                try dao.create(Item.make(1...600))
                let query = Query<Item>(orderedBy: order)
                let expected = try dao.read(query)
                let cursor = try dao.storage.cursor(query)
                var rows = try cursor.next(10)
                try Background { [order] in
                    try dao.erase(where: { $0.id.between(100, and: 400) })
                    try dao.update(where: { $0.id > 500 }) { $0.number = -$0.number }
                    try dao.create(Item.make(601...700))
                    try expectEqual(try dao.count(), 399, "the committed rows, \(order.count) terms")
                }.wait(seconds: 30)
                try cursor.forEachBatch(of: 50) { rows += $0 }
                cursor.close()
                try expectSame(rows, expected, "the rows of the cursor")
                try expectEqual(try dao.count(), 399, "the rows afterwards")
            }
        },
        ConformanceCase(
            "Q.changeWhileReading", "Q6", title: "changing the rows of a cursor while it reads repeats no row and skips none",
            requires: [.snapshotReads]
        ) {
            context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...300))
            let cursor = try dao.storage.cursor(Query(orderedBy: [.ascending(\.number)]))
            var visited: [Int] = []
            try cursor.forEachBatch(of: 20) { rows in
                visited += rows.map(\.id)
                // These rows move ahead of the cursor, where it could meet them again.
                try dao.persist(rows.map { Item(id: $0.id, name: $0.name, number: $0.number &+ 100_000) })
                try dao.create(rows.map { Item(id: $0.id &+ 10_000, name: "", number: $0.number &+ 5) })
            }
            try expectEqual(visited, Array(1...300))
            try expectEqual(try dao.count(), 600)
        },
    ]

    private static let abandoned: [ConformanceCase] = [
        ConformanceCase(
            "Q.abandonedCursors", "Q6", title: "a thousand cursors left before their end block nothing, closed or released"
        ) { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...100))
            for round in 0..<1000 {
                let cursor = try dao.storage.cursor(Query(orderedBy: round % 2 == 0 ? [] : [.ascending(\.number)]))
                try expectEqual(try cursor.next(3).map(\.id), [1, 2, 3], "cursor \(round)")
                if round % 3 == 0 { cursor.close() }
                if round % 100 == 0 { try dao.persist(Item(id: 100, name: "round \(round)", number: 1000)) }
            }
            try expectEqual(try dao.read(byPrimaryKey: 100)?.name, "round 900")
            try expectEqual(try dao.erase(), 100)
        },
        ConformanceCase("Q.closedCursor", "Q6", title: "a cursor may be closed twice, and gives no more rows") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...10))
            let cursor = try dao.storage.cursor(Query())
            try expectEqual(try cursor.next(2).map(\.id), [1, 2])
            cursor.close()
            cursor.close()
            let more = (try? cursor.next(2).count) ?? 0
            try expectEqual(more, 0, "rows of a closed cursor")
            try dao.create(Item(id: 11, name: ""))
        },
        ConformanceCase("Q.interleavedCursors", "Q6", title: "two cursors on one storage are independent") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...50))
            let (up, down) = (
                try dao.storage.cursor(Query()), try dao.storage.cursor(Query(orderedBy: [.descending(\.number)]))
            )
            var (ups, downs) = ([Int](), [Int]())
            for _ in 0..<25 {
                ups += try up.next(2).map(\.id)
                downs += try down.next(2).map(\.id)
            }
            try expectEqual(ups, Array(1...50))
            try expectEqual(downs, (1...50).reversed())
        },
    ]

    private static let tasks: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "Q.stream", "Q6",
            title: "an asynchronous stream gives the rows in order, and may be left before its end"
        ) { context in
            let dao = try context.dao(Item.self)
            try await dao.create(Item.make(1...1000))
            var ids: [Int] = []
            for try await item in dao.stream(Query(orderedBy: [.descending(\.number)])) {
                ids.append(item.id)
                try expect(ids.count <= 1000, "the rows to end")
            }
            try expectEqual(ids, (1...1000).reversed())
            for round in 0..<200 {
                for try await item in dao.stream() where item.id > round % 300 { break }
            }
            try await dao.create(Item(id: 2000, name: "after"))
            let count = try await dao.count()
            try expectEqual(count, 1001)
        },
        ConformanceCase(
            concurrent: "Q.streamCancelled", "Q6", title: "the stream of a cancelled task ends with CancellationError"
        ) { context in
            let dao = try context.dao(Item.self)
            try await dao.create(Item.make(1...1000))
            let task = Task(executorPreference: TaskThreads.shared) {
                var count = 0
                for try await _ in dao.stream() {
                    count += 1
                    if count == 10 { withUnsafeCurrentTask { $0?.cancel() } }
                }
                return count
            }
            let result = await task.result
            if case .success(let count) = result { throw fail("a cancelled stream continued to its end, \(count) rows") }
            if case .failure(let error) = result { try expect(error is CancellationError, "CancellationError, not \(error)") }
            try await dao.erase()
            let left = try await dao.count()
            try expectEqual(left, 0)
        },
    ]
}
