/// The state of an open engine that does not depend on its kind: the executor, the observers of commits, the
/// relationships of entities, and their open declarations.
///
/// A backend creates it together with the engine. All databases on the engine return the same state.
///
/// ```swift
/// final class MyEngine: Sendable {
///     let state = EngineState(name: "mine")
/// }
/// ```
public final class EngineState: Sendable {
    /// The executor of asynchronous calls.
    public let executor: DatabaseExecutor
    /// The hub that notifies observations of commits.
    public let observations = ObservationHub()
    /// The relationships between entities.
    let relations = RelationRegistry()
    /// The number of changes that this process has logged since it looked at the limit of the log.
    let logged = Atomic(0)
    /// When this process has looked at it.
    let lookedAtLog = Lock(ContinuousClock.now)
    /// The merges in indexes for searches, by their numbers, where transactions of their own merge.
    package let textMerges = Lock<[Int64: TextMerges]>([:])
    /// The declarations of entities that databases were asked for.
    package let declarations = OpenDeclarations()

    /// The numbers of each ``DatabaseSet`` that has opened the engine.
    private let sets = Lock<[Int]>([])
    /// Whether there is one: a write in a transaction asks without a lock.
    private let isOfSet = Atomic(false)

    /// Whether asynchronous writes that wait at the same time share a commit (contract T9).
    let sharesCommits: Bool

    /// Creates the state of a newly opened engine.
    ///
    /// - Parameters:
    ///   - name: The name of the engine's threads in a debugger.
    ///   - hasConcurrentWriters: Whether write transactions run side by side.
    ///   - sharesCommits: Whether asynchronous writes that wait at the same time share a commit, because a commit waits for a
    ///     disk. They do in databases with `durability=full`.
    public init(name: String, hasConcurrentWriters: Bool = false, sharesCommits: Bool = false) {
        executor = DatabaseExecutor(name: name, hasConcurrentWriters: hasConcurrentWriters)
        self.sharesCommits = sharesCommits
    }

    /// Remembers that a ``DatabaseSet`` has opened the engine.
    func join(set number: Int) {
        sets.withLock { if !$0.contains(number) { $0.append(number) } }
        isOfSet.store(true, ordering: .releasing)
    }

    /// Whether one ``DatabaseSet`` has opened this engine and another one.
    func sharesSet(with other: EngineState) -> Bool {
        guard isInSet, other.isInSet else { return false }
        let others = other.sets.withLock { $0 }
        return sets.withLock { $0.contains { others.contains($0) } }
    }

    /// Whether a ``DatabaseSet`` has opened the engine.
    var isInSet: Bool { isOfSet.load(ordering: .acquiring) }
}
