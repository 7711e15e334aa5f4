import DAOTransport

/// A step of a processing chain. It takes an input and returns an observer of its output.
///
/// A node has one responsibility and does not know its caller. It can hold the next node and pass it the
/// input, changed or unchanged. A chain is then a value of nested values, and every node can be tested alone
/// with a ``ClosureNode`` below it.
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
/// A node with a single output that is easier to write with `await` is an ``AsyncNode``.
public protocol Node<Input, Output>: Sendable {
    /// The input of the node.
    associatedtype Input: Sendable
    /// The output of the node.
    associatedtype Output: Sendable

    /// Starts the work, on any thread, and returns immediately.
    func process(_ input: Input) -> Observer<Output>

    /// The first outcome of the work. Cancelling the task cancels the work.
    ///
    /// - Throws: the node's error; `CancellationError`; ``ObserverError/finishedWithoutValue`` when the node
    ///   releases its observer without an emission.
    func value(for input: Input) async throws -> Output
}

extension Node {
    /// The first outcome of ``process(_:)``.
    public func value(for input: Input) async throws -> Output {
        try await FirstOutcome<Output>.wait { process(input) }
    }

    /// All emissions of the work, until it finishes. See ``Observer/values``.
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

    /// All emissions of the work. See ``values(for:)``.
    public func values() -> AsyncThrowingStream<Output, any Error> {
        values(for: ())
    }
}

/// A node with a single output, written with `await`.
///
/// ```swift
/// struct BooksNode: AsyncNode {
///     let client: any Client
///     func run(_ author: String) async throws -> [Book] { try await client.request(BookListEndpoint(author: author)) }
/// }
/// ```
public protocol AsyncNode<Input, Output>: Node {
    /// The input of the node.
    associatedtype Input
    /// The output of the node.
    associatedtype Output

    /// Does the work. It runs in a separate task or in the caller's task; cancelling the observer cancels the
    /// task.
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

/// A node made from a closure: for steps that need no separate type, and as a replacement for another node in
/// a test.
public struct ClosureNode<Input: Sendable, Output: Sendable>: Node {
    private let body: @Sendable (Input) -> Observer<Output>

    /// Creates a node that returns the observer of the closure.
    public init(_ body: @escaping @Sendable (Input) -> Observer<Output>) {
        self.body = body
    }

    /// Creates a node that runs the closure in a task.
    public init(async body: @escaping @Sendable (Input) async throws -> Output) {
        self.body = { input in .task { try await body(input) } }
    }

    /// Calls the closure.
    public func process(_ input: Input) -> Observer<Output> {
        body(input)
    }
}
