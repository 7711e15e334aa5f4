/// An asynchronous sequence of a value that is read from a database: the current value, then a new value after
/// every commit that changes it (contract O1, O2).
///
/// ```swift
/// for try await count in database.observe({ try messages.count { !$0.isRead } }) {
///     show(count)
/// }
/// ```
///
/// ``Database/observe(_:)`` observes the value of a closure. The methods `observe` of ``DAO`` observe a row or a
/// query.
///
/// Values arrive in commit order. A slow consumer can miss intermediate values, but never the last value. A
/// rollback, and a change of rows that the value does not depend on, produce nothing.
///
/// The sequence throws `.closed` when the database is closed, `CancellationError` when its task is cancelled, and
/// any error of reading the value, unchanged. It ends with an error. Its end, or leaving the loop, releases all
/// resources. A sequence that has delivered a value goes on when a server becomes `.unreachable`: it reads again, ten times a
/// second, until the server is back.
///
/// Each iteration reads separately, on the reader threads of the database. Its reads of this database are from
/// one commit.
public struct ValueObservation<Value: Sendable>: AsyncSequence, Sendable {
    /// The observed value.
    public typealias Element = Value
    /// Reads the value; the result is nil when the value is the same as before.
    typealias Read = @Sendable () throws -> Value?

    private let database: any Database
    private let makeRead: @Sendable () -> Read

    /// Creates an observation.
    ///
    /// - Parameters:
    ///   - database: The database whose reads are from one commit.
    ///   - makeRead: A closure that is called for each iteration.
    init(_ database: any Database, _ makeRead: @escaping @Sendable () -> Read) {
        self.database = database
        self.makeRead = makeRead
    }

    /// Starts the observation.
    public func makeAsyncIterator() -> Iterator { Iterator(database, makeRead()) }

    /// An iterator of the values.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private let database: any Database
        private let read: Read
        /// Nil after the end.
        private var reads: ObservedReads?
        private var hasDelivered = false

        /// How long to wait before a server that could not be reached is asked again.
        private static var pause: Duration { .milliseconds(100) }

        init(_ database: any Database, _ read: @escaping Read) {
            self.database = database
            self.read = read
            reads = ObservedReads(of: database.engineState)
        }

        /// Returns the next value; nil after an error.
        public mutating func next() async throws -> Value? {
            guard let reads else { return nil }
            do {
                while true {
                    await reads.signal.wait()
                    do {
                        guard let value = try await run(database, read, reads) else { continue }
                        hasDelivered = true
                        return value
                    } catch let error as StorageError where error.kind == .unreachable && hasDelivered {
                        try await Task.sleep(for: Self.pause)
                        reads.signal.raise()
                    }
                }
            } catch {
                self.reads = nil
                throw error
            }
        }

        /// Returns the first value, read on the calling thread; nil when it was delivered already.
        mutating func nextAtOnce() throws -> Value? {
            guard let reads else { return nil }
            do {
                let value = try reads.record {
                    database.capabilities.hasSnapshotReads ? try database.snapshot(read) : try read()
                }
                hasDelivered = hasDelivered || value != nil
                return value
            } catch {
                self.reads = nil
                throw error
            }
        }

        private func run(_ database: any Database, _ read: @escaping Read, _ reads: ObservedReads) async throws -> Value? {
            try await database.engineState.executor.read {
                try reads.record {
                    database.capabilities.hasSnapshotReads ? try database.snapshot(read) : try read()
                }
            }
        }
    }
}

extension Database {
    /// Returns the value of a closure now, and again after every commit that changes it (contract O5).
    ///
    /// The closure reads with any DAOs and storages. It runs again after a commit that touches an entity that it
    /// read in its last run, or an entity that relationships of such an entity lead to. A value that is equal to
    /// the last value is not delivered. Here two References are equal when their keys and the rows that
    /// ``DAO/including(_:)`` brought are equal.
    ///
    /// ```swift
    /// struct Inbox: Equatable { var unread: Int, newest: Message?, size: Int }
    ///
    /// let inbox = database.observe {
    ///     Inbox(
    ///         unread: try messages.count { !$0.isRead },
    ///         newest: try messages.first(orderedBy: .descending(\.date)),
    ///         size: try messages.sum(\.size))
    /// }
    /// ```
    ///
    /// The reads of this database in one run are from one commit, where the database has snapshots. DAOs of other
    /// databases can be read too; each of their calls reads the last commit there, unless the closure uses
    /// `snapshot` of that database. The reads count that the closure does itself, on its thread.
    ///
    /// A write in the closure, to any database, throws `.invalidTransaction` and writes nothing.
    ///
    /// - Parameter body: A closure that reads the value. It runs on a reader thread of the database.
    public func observe<Value: Equatable & Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) -> ValueObservation<Value> {
        ValueObservation(self) {
            let last = LastResult<Value>()
            return {
                let value = Optional.some(try body())
                let before = last.replace(with: value)
                return ObservedReads.comparingRows { before == value } ? nil : value
            }
        }
    }
}

/// The last result of an iteration, for the comparison with the next.
final class LastResult<Result: Sendable>: Sendable {
    private let result = Lock<Result?>(nil)

    /// Replaces the result, and returns the previous result; nil when there was none.
    func replace(with new: Result?) -> Result? {
        result.withLock { result in
            defer { result = new }
            return result
        }
    }
}
