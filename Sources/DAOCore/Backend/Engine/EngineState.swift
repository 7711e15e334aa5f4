/// The state of one open engine that does not depend on its kind: where calls run, who observes commits, and which
/// relationships its entities have.
///
/// A backend makes one with each engine. All databases that share the engine return the same one.
///
/// ```swift
/// final class MyEngine: Sendable {
///     let state = EngineState(name: "mine")
/// }
/// ```
public final class EngineState: Sendable {
    /// Where the asynchronous forms of calls run.
    public let executor: DatabaseExecutor
    /// Where observations wait for commits.
    public let observations = ObservationHub()
    /// The relationships between the entities.
    let relations = RelationRegistry()

    /// Creates the state of an engine that has just been opened.
    ///
    /// - Parameter name: What the engine's threads are called in a debugger.
    public init(name: String) { executor = DatabaseExecutor(name: name) }
}
