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
    /// The declarations of entities that databases were asked for.
    package let declarations = OpenDeclarations()

    /// The number of the ``DatabaseSet`` that has opened the engine; 0 for an engine that was opened alone.
    let set = Atomic(0)

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
}
