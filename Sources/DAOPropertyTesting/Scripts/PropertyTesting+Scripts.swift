import DAOConformance
import DAOCore
import Foundation

// The functions that printed tests call.

extension PropertyTesting {
    /// Runs a script in a new place, which is removed after it.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - body: Receives a closure that opens the database of the place. Each call opens the same data.
    public static func script(on target: ConformanceTarget, _ body: (_ open: @escaping () throws -> any Database) throws -> Void)
        throws
    {
        let location = try ConformanceTarget.Location.make()
        defer { target.remove(location) }
        try body { try target.open(location) }
    }

    /// Runs a script in two new places, which are removed after it.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - body: Receives a closure for each place that opens its database.
    public static func script(
        on target: ConformanceTarget,
        _ body: (_ open: @escaping () throws -> any Database, _ openNeighbour: @escaping () throws -> any Database) throws -> Void
    ) throws {
        let location = try ConformanceTarget.Location.make()
        defer { target.remove(location) }
        let neighbour = try location.appending("other")
        try body({ try target.open(location) }, { try target.open(neighbour) })
    }

    /// The result or the error of a call, as text that shows every bit. A call that is `conflict` is made again.
    @discardableResult
    public static func outcome<Result>(_ body: () throws -> Result) -> String {
        Outcome.retrying { Outcome.of { Outcome(try body()) } }.text
    }

    /// Merges rows into those that are stored.
    ///
    /// - Parameters:
    ///   - rows: The rows.
    ///   - storage: The storage.
    ///   - inserts: Whether rows that are not stored yet are inserted.
    ///   - position: At which of the rows it fails.
    public static func merge<Record: PropertyTestModel>(
        _ rows: [Record], into storage: any Storage<Record>, inserts: Bool = true, failsAt position: Int? = nil
    ) throws -> Int {
        try storage.merge(keys: rows.map { try Record.schema.validKey(of: $0) }) { index, record in
            if index == position { throw Abort() }
            if var stored = record {
                try Merging<Record>().translate(from: rows[index], to: &stored)
                record = stored
            } else if inserts {
                record = rows[index]
            }
        }
    }

    /// Walks over the rows of a query.
    ///
    /// - Parameters:
    ///   - dao: The DAO.
    ///   - query: The query.
    ///   - count: After how many rows it ends.
    public static func walk<Record: PropertyTestModel>(
        _ dao: DAO<Record>, _ query: Query<Record>, upTo count: Int? = nil
    ) throws -> [Record] {
        var rows: [Record] = []
        do {
            try dao.forEach(query) { record in
                if rows.count == count { throw Abort() }
                rows.append(record)
            }
        } catch is Abort {}
        return rows
    }

    /// Reads the first rows of a query with a cursor, runs a body, and reads the rest.
    ///
    /// - Parameters:
    ///   - dao: The DAO.
    ///   - query: The query.
    ///   - first: The number of the first rows.
    ///   - leavesRest: Whether the cursor is dropped after the body.
    ///   - body: Runs between both reads.
    public static func stream<Record: PropertyTestModel>(
        _ dao: DAO<Record>, _ query: Query<Record>, first: Int, leavesRest: Bool = false,
        _ body: () throws -> Void = {}
    ) throws -> [[Record]] {
        let cursor = try dao.storage.cursor(query)
        func take(_ count: Int) throws -> [Record] {
            var records: [Record] = []
            while records.count < count {
                let batch = try cursor.next(Swift.min(count - records.count, 3))
                if batch.isEmpty { break }
                records += batch
            }
            return records
        }
        let beginning = try take(first)
        try body()
        return [beginning, leavesRest ? [] : try take(.max)]
    }

    /// Reads a query in pages, and runs a body after the first.
    ///
    /// - Parameters:
    ///   - dao: The DAO.
    ///   - query: The query.
    ///   - size: The number of rows of a page.
    ///   - recodes: Whether the cursors between pages are sent as text.
    ///   - body: Runs after the first page.
    public static func pages<Record: PropertyTestModel>(
        _ dao: DAO<Record>, _ query: Query<Record>, of size: Int, recodes: Bool = false,
        _ body: () throws -> Void = {}
    ) throws -> [[Record]] {
        var query = query
        var pages: [[Record]] = []
        repeat {
            let page = try dao.page(query, limit: size)
            pages.append(page.elements)
            query.after = page.next
            if recodes, let cursor = page.next {
                query.after = try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode(cursor))
            }
            if pages.count == 1 { try body() }
        } while query.after != nil && pages.count < RowStep.maximumPages
        return pages
    }

    /// Observes a query while a body runs.
    ///
    /// - Parameters:
    ///   - dao: The DAO.
    ///   - query: The query.
    ///   - patience: How many seconds a result may take.
    ///   - body: Gets the observation.
    /// - Returns: The rows that were observed before the body and after it.
    public static func watch<Record: PropertyTestModel>(
        _ dao: DAO<Record>, _ query: Query<Record>, patience: Double = 60,
        _ body: (Watcher<Record>) throws -> Void
    ) throws -> [[Record]] {
        let watcher = Watcher(dao, query, patience: patience)
        let first = try watcher.latest()
        try body(watcher)
        let last = try watcher.latest()
        try watcher.stop()
        return [first, last]
    }

    /// Runs a body on another thread, and waits for it.
    public static func elsewhere(_ body: @escaping () -> Void) {
        // This thread uses nothing of the body before the other thread has ended.
        nonisolated(unsafe) let body = body
        let thread = Background { body() }
        while !thread.hasEnded { try? thread.wait(seconds: 3600) }
    }

    /// Runs each body on a separate thread. The threads begin together. Waits for all of them.
    ///
    /// - Throws: The error of one of them.
    public static func atOnce(_ bodies: () throws -> Void...) throws {
        // This thread uses nothing of the bodies before the other threads have ended.
        nonisolated(unsafe) let bodies = bodies
        let start = Signal()
        let threads = bodies.indices.map { index in
            Background {
                _ = start.wait(seconds: 60)
                try bodies[index]()
            }
        }
        start.send()
        for thread in threads { try thread.wait(seconds: 60) }
    }

    /// Closes a database and opens its place again. A database that is not persistent is opened again first.
    public static func reopen(_ database: any Database, _ open: () throws -> any Database) throws -> any Database {
        if database.capabilities.isPersistent {
            try database.close()
            return try open()
        }
        let next = try open()
        try database.close()
        return next
    }

    /// Runs a body in a task that inherits a transaction, and waits for it.
    ///
    /// - Parameters:
    ///   - database: Whose transaction it is.
    ///   - whileItRuns: Whether the transaction waits for the body; otherwise the body begins after its end.
    ///   - patience: How many seconds the body has.
    ///   - body: The work in the task.
    /// - Throws: The error of the transaction, or a failure when the body does not end.
    public static func inherit(
        in database: any Database, whileItRuns: Bool, patience: Double = 60, _ body: @escaping () -> Void
    ) throws {
        // This thread uses nothing of the body before the body has ended.
        nonisolated(unsafe) let body = body
        let (begin, ended) = (AsyncStream<Void>.makeStream(), Signal())
        func wait() throws { try expect(ended.wait(seconds: patience), "the task that inherited a transaction to end") }
        try database.transaction {
            Task(executorPreference: TaskThreads.shared) {
                for await _ in begin.stream { break }
                body()
                ended.send()
            }
            guard whileItRuns else { return }
            begin.continuation.finish()
            try wait()
        }
        begin.continuation.finish()
        try wait()
    }
}
