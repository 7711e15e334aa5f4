import DAOCore
import Foundation

// What printed scripts are written with.

extension RandomProof {
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
    public static func outcome(_ body: () throws -> Void) -> String {
        Outcome.of {
            try body()
            return .done
        }.text
    }

    /// What a call gives or throws, as text that shows every bit.
    @discardableResult
    public static func outcome(_ body: () throws -> Int) -> String { Outcome.of { .number(try body()) }.text }

    /// What a call gives or throws, as text that shows every bit.
    @discardableResult
    public static func outcome(_ body: () throws -> Bool) -> String { Outcome.of { .flag(try body()) }.text }

    /// What a call gives or throws, as text that shows every bit.
    @discardableResult
    public static func outcome(_ body: () throws -> [Key]) -> String { Outcome.of { .keys(try body().map(\.value)) }.text }

    /// What a call gives or throws, as text that shows every bit.
    @discardableResult
    public static func outcome<Record: RandomProofModel>(_ body: () throws -> Record) -> String {
        Outcome.of { .rows([try body().cells]) }.text
    }

    /// What a call gives or throws, as text that shows every bit.
    @discardableResult
    public static func outcome<Record: RandomProofModel>(_ body: () throws -> Record?) -> String {
        Outcome.of { .row(try body()?.cells) }.text
    }

    /// What a call gives or throws, as text that shows every bit.
    @discardableResult
    public static func outcome<Record: RandomProofModel>(_ body: () throws -> [Record]) -> String {
        Outcome.of { .rows(try body().map(\.cells)) }.text
    }

    /// What a call gives or throws, as text that shows every bit.
    @discardableResult
    public static func outcome<Record: RandomProofModel>(_ body: () throws -> [[Record]]) -> String {
        Outcome.of { .batches(try body().map { $0.map(\.cells) }) }.text
    }

    /// The total that a call gives, or what it throws, as text that shows every bit.
    @discardableResult
    public static func total<Stored: FieldValue>(_ body: () throws -> Stored) -> String {
        Outcome.of { .value(try (body() as? any Cell).map { ReferenceState.stored($0.cell) } ?? .null) }.text
    }

    /// The next rows of a cursor, so many or all there are.
    public static func take<Record: RandomProofModel>(_ count: Int, from cursor: RowCursor<Record>) throws -> [Record] {
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
        let ended = Signal()
        let thread = Thread {
            body()
            ended.send()
        }
        thread.stackSize = 16 << 20
        thread.start()
        while !ended.wait(seconds: 3600) {}
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

    /// Closes a database and opens its place again, with nothing else open there.
    public static func leave(_ database: any Database, _ open: () throws -> any Database) throws -> any Database {
        try database.close()
        return try open()
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
}
