import Foundation

/// The transaction that the current code runs in. DAOs and nested translators join it without a parameter.
///
/// It is a task local. A child task inherits the task local but not the transaction. The thread distinguishes
/// the two (contract T5).
final class AmbientTransaction: @unchecked Sendable {
    // Sendable because only the thread in `thread` accesses `handle` and the variables. Every access checks the
    // thread first.

    @TaskLocal private static var kept: AmbientTransaction?
    // Its address: every call looks for it, and a number is read without counting references. It is bound inside `kept`, so
    // whoever has inherited the one has inherited the other.
    @TaskLocal private static var address: UInt = 0

    /// The innermost transaction of the current code; nil when there is none.
    static var current: AmbientTransaction? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// The coordinator of the transaction.
    let owner: ObjectIdentifier
    /// The engine of the transaction.
    let engine: EngineState
    /// The transaction handle.
    let handle: AnyObject
    /// Whether the transaction can write.
    let canWrite: Bool
    /// Whether the transaction was begun for one call. A failure rolls back the whole call, so inner calls
    /// need no savepoints.
    let isOneCall: Bool
    /// The transaction of another database that encloses this transaction.
    let outer: AmbientTransaction?
    /// Whether the entities are noted that the transaction touches.
    let notesTouched: Bool
    /// The entities that the transaction has touched.
    var touched: Set<String> = []
    /// Whether the transaction may have touched any entity.
    var hasTouchedAll = false
    /// The number of calls in the transaction that could write.
    var writeCount = 0
    /// The number of calls in the transaction, for the question whether its task was cancelled.
    private var callCount: UInt32 = 0

    /// Throws `CancellationError` when the task of the transaction was cancelled (contract C5). It looks in every 32nd call.
    func checkCancellation() throws {
        callCount &+= 1
        if callCount & 31 == 0 { try CallCancellation.check() }
    }
    /// The rows that wait for the end of the call of several calls that is running; nil outside of one.
    var waiting: WaitingRows?
    /// What the changes have in common that it has logged; nil before the first.
    var logged: LoggedTransaction?
    /// The next number of a row of an index for searches, where transactions have numbers; nil before the first.
    var nextTextNumber: Int64?
    /// Whether the call that is running logs what it writes.
    var isLogging = false
    private let thread: pthread_t
    private var isActive = true

    init(
        owner: ObjectIdentifier, engine: EngineState, handle: AnyObject, canWrite: Bool, isOneCall: Bool = false,
        notesTouched: Bool = false
    ) {
        self.owner = owner
        self.engine = engine
        self.handle = handle
        self.canWrite = canWrite
        self.isOneCall = isOneCall
        self.notesTouched = notesTouched
        outer = Self.current
        thread = pthread_self()
    }

    /// Whether the transaction is running on the current thread.
    var isUsable: Bool { pthread_equal(thread, pthread_self()) != 0 && isActive }

    /// Notes an entity that the transaction touches. Only its thread may call it.
    func touch(_ entity: String?) { if notesTouched, let entity { touched.insert(entity) } }

    /// Runs a closure in the transaction, which ends with it. Only its thread may call it.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        defer { isActive = false }
        return try Self.$kept.withValue(self) {
            try Self.$address.withValue(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), operation: body)
        }
    }

    /// The transaction of an engine that encloses all others of it.
    func outermost(of engine: EngineState) -> AmbientTransaction {
        var (found, candidate) = (self, outer)
        while let transaction = candidate {
            if transaction.engine === engine { found = transaction }
            candidate = transaction.outer
        }
        return found
    }

    /// Whether the current code runs inside a write transaction of any engine.
    static var isWriting: Bool {
        var candidate = current
        while let transaction = candidate {
            if transaction.canWrite, transaction.isUsable { return true }
            candidate = transaction.outer
        }
        return false
    }

    /// Whether the current code runs inside a write transaction of another engine of a set that has opened an engine.
    static func isWriting(inSetOf engine: EngineState) -> Bool {
        guard var candidate = current, engine.isInSet else { return false }
        while true {
            if candidate.canWrite, candidate.isUsable, candidate.engine.sharesSet(with: engine) { return true }
            guard let outer = candidate.outer else { return false }
            candidate = outer
        }
    }

    /// Whether the current code runs inside a transaction or a snapshot of an engine.
    static func isInside(_ engine: EngineState) -> Bool { innermost(of: engine) != nil }

    /// The number of calls that could write, in the transaction of an engine that the current code runs in; nil outside of one.
    /// While it is the same, nothing was written in the transaction.
    static func writeCount(of engine: EngineState) -> Int? { innermost(of: engine)?.writeCount }

    /// The rows that wait for the end of the call that the running one is a part of; nil when it is a call of its own.
    static func waiting(of engine: EngineState) -> WaitingRows? { usable(of: engine)?.waiting }

    /// The innermost transaction of an engine, if the current thread may use it.
    static func usable(of engine: EngineState) -> AmbientTransaction? {
        innermost(of: engine).flatMap { $0.isUsable ? $0 : nil }
    }

    @inline(__always) private static func innermost(of engine: EngineState) -> AmbientTransaction? {
        var candidate = current
        while let transaction = candidate {
            if transaction.engine === engine { return transaction }
            candidate = transaction.outer
        }
        return nil
    }

    /// Returns the ambient transaction of a coordinator; nil when there is none.
    ///
    /// - Throws: `.invalidTransaction` when there is a transaction that the current code must not use.
    @inline(__always) static func find(owner: ObjectIdentifier) throws -> AmbientTransaction? { try current?.first(of: owner) }

    /// The transaction, or the innermost one around it, of a coordinator.
    private func first(of owner: ObjectIdentifier) throws -> AmbientTransaction? {
        guard self.owner == owner else { return try outer?.first(of: owner) }
        guard isUsable else { throw StorageError.transactionEnded }
        return self
    }
}

extension EngineState {
    /// Whether the current thread runs a transaction or a snapshot of the engine.
    package var isInTransaction: Bool { AmbientTransaction.isInside(self) }
}
