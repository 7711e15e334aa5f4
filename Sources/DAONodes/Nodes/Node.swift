import DAOTransport

/// One step of a processing chain: takes an input and gives an observer of its output.
///
/// A node has one responsibility and knows nothing of who calls it. It may hold the next node and pass its input on, changed
/// or not; a chain is then a value made of nested values, and every node can be tried alone with a ``ClosureNode`` below it.
///
/// ```swift
/// struct TrimmingNode<Output: Sendable>: Node {
///     let next: any Node<String, Output>
///
///     func process(_ input: String) -> Observer<Output> {
///         next.process(input.trimmingCharacters(in: .whitespaces))
///     }
/// }
/// ```
///
/// A node that has one answer and is easier to write with `await` is an ``AsyncNode``.
public protocol Node<Input, Output>: Sendable {
    /// What the node takes.
    associatedtype Input: Sendable
    /// What the node gives.
    associatedtype Output: Sendable

    /// Starts the work, on any thread, and returns at once.
    func process(_ input: Input) -> Observer<Output>

    /// The first outcome of the work. Cancelling the task cancels the work.
    ///
    /// - Throws: the node's error; `CancellationError`; ``ObserverError/finishedWithoutValue`` when the node lets go of its
    ///   observer without having emitted anything.
    func value(for input: Input) async throws -> Output
}

extension Node {
    /// The first outcome of ``process(_:)``.
    public func value(for input: Input) async throws -> Output {
        try await FirstOutcome<Output>.wait { process(input) }
    }

    /// Everything the work emits, until it has nothing more to emit. See ``Observer/values``.
    public func values(for input: Input) -> AsyncThrowingStream<Output, any Error> {
        process(input).values
    }
}

extension Node where Input == Void {
    /// Starts the work.
    public func process() -> Observer<Output> {
        process(())
    }

    /// The first outcome of the work. See ``value(for:)``.
    public func value() async throws -> Output {
        try await value(for: ())
    }

    /// Everything the work emits. See ``values(for:)``.
    public func values() -> AsyncThrowingStream<Output, any Error> {
        values(for: ())
    }
}

/// A node with one answer, written with `await`.
///
/// ```swift
/// struct BooksNode: AsyncNode {
///     let client: any Client
///     func run(_ author: String) async throws -> [Book] { try await client.request(BookListEndpoint(author: author)) }
/// }
/// ```
public protocol AsyncNode<Input, Output>: Node {
    /// What the node takes.
    associatedtype Input
    /// What the node gives.
    associatedtype Output

    /// Does the work. It runs in a task of its own, or in the caller's; cancelling the observer cancels the task.
    func run(_ input: Input) async throws -> Output
}

extension AsyncNode {
    /// Starts ``run(_:)`` in a task.
    public func process(_ input: Input) -> Observer<Output> {
        .task { try await run(input) }
    }

    /// Does the work in the caller's task.
    public func value(for input: Input) async throws -> Output {
        try await run(input)
    }
}

/// A node made of a closure: for steps that need no type of their own, and to stand in for another node in a test.
public struct ClosureNode<Input: Sendable, Output: Sendable>: Node {
    private let body: @Sendable (Input) -> Observer<Output>

    /// A node that gives what the closure gives.
    public init(_ body: @escaping @Sendable (Input) -> Observer<Output>) {
        self.body = body
    }

    /// A node that runs the closure in a task.
    public init(async body: @escaping @Sendable (Input) async throws -> Output) {
        self.body = { input in .task { try await body(input) } }
    }

    /// Calls the closure.
    public func process(_ input: Input) -> Observer<Output> {
        body(input)
    }
}
