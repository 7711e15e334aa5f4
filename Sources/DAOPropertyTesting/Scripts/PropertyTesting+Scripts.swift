import DAOConformance
import DAOCore
import Foundation

// What printed tests are written with.

extension PropertyTesting {
    /// Runs a script in a new place, which is removed after it.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - body: Gets what opens the place's database; called again, it opens the same data again.
    public static func script(on target: ConformanceTarget, _ body: (_ open: @escaping () throws -> any Database) throws -> Void)
        throws
    {
        let location = try ConformanceTarget.Location.make()
        defer { location.remove() }
        try body { try target.open(location) }
    }

    /// Runs a script in two new places, which are removed after it.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - body: Gets what opens the database of each place.
    public static func script(
        on target: ConformanceTarget,
        _ body: (_ open: @escaping () throws -> any Database, _ openNeighbour: @escaping () throws -> any Database) throws -> Void
    ) throws {
        let location = try ConformanceTarget.Location.make()
        defer { location.remove() }
        let neighbour = try location.appending("other")
        try body({ try target.open(location) }, { try target.open(neighbour) })
    }

    /// What a call gives or throws, as text that shows every bit.
    @discardableResult
    public static func outcome<Result>(_ body: () throws -> Result) -> String { Outcome.of { Outcome(try body()) }.text }

    /// The next rows of a cursor, so many or all there are.
    public static func take<Record: PropertyTestModel>(_ count: Int, from cursor: RowCursor<Record>) throws -> [Record] {
        var records: [Record] = []
        while records.count < count {
            let batch = try cursor.next(Swift.min(count - records.count, 3))
            if batch.isEmpty { break }
            records += batch
        }
        return records
    }

    /// A page cursor as it is after having been sent as text.
    public static func recoded(_ cursor: PageCursor) throws -> PageCursor {
        try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode(cursor))
    }

    /// Runs a body on another thread, and waits for it.
    public static func elsewhere(_ body: @escaping () -> Void) {
        // This thread touches nothing until the other one has ended.
        nonisolated(unsafe) let body = body
        let thread = Background { body() }
        while !thread.hasEnded { try? thread.wait(seconds: 3600) }
    }

    /// Runs bodies on threads of their own that begin at once, and waits for all of them.
    ///
    /// - Throws: What one of them throws.
    public static func atOnce(_ bodies: () throws -> Void...) throws {
        // This thread touches nothing until the others have ended, or never again when one hangs.
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

    /// Closes a database and opens its place again; where data does not outlive that, the other way round.
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
    ///   - body: What to do with a transaction that is not its own.
    /// - Throws: What the transaction throws, or that the body does not end.
    public static func inherit(
        in database: any Database, whileItRuns: Bool, patience: Double = 60, _ body: @escaping () -> Void
    ) throws {
        // This thread touches nothing of the body's until that has ended.
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
