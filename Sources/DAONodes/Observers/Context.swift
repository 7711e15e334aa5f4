import Dispatch

/// What a node can do with the context it holds: ``Context``, ``AsyncContext`` and ``MulticastContext`` all emit this way.
public class Emitter<Model: Sendable>: Observer<Model>, @unchecked Sendable {
    // Sendable as its superclass is; it has no state of its own.

    /// Tells the listeners of data. It replaces an earlier outcome that nobody has been told.
    @discardableResult
    public final func emit(data: Model) -> Self {
        emit(.success(data))
        return self
    }

    /// Tells the listeners of an error. It replaces an earlier outcome that nobody has been told.
    @discardableResult
    public final func emit(error: any Error) -> Self {
        emit(.failure(error))
        return self
    }

    /// Says that nothing more will be emitted, which ends the loops over ``Observer/values``; later emissions reach nobody.
    ///
    /// What has been emitted still reaches a listener that comes late. A context that is let go of without this finishes too:
    /// nobody is left who could emit.
    @discardableResult
    public final func finish() -> Self {
        finishEmitting()
        return self
    }
}

/// The default observer, held by the node that emits.
///
/// Emitting does not end anything: a context may emit as often as it likes, data and errors in any order. The latest outcome
/// waits for a listener; an earlier one that found none is gone.
///
/// ```swift
/// struct GreetingNode: Node {
///     func process(_ name: String) -> Observer<String> {
///         let context = Context<String>()
///         DispatchQueue.global().async {
///             context.emit(data: "Hello \(name)!").finish()
///         }
///         return context
///     }
/// }
/// ```
public final class Context<Model: Sendable>: Emitter<Model>, @unchecked Sendable {
    // Sendable as its superclass is; it has no state of its own.

    /// A context that has emitted nothing yet.
    ///
    /// - Parameter keepsEveryOutcome: whether every outcome waits for a listener, in order, and not the latest one alone: for a
    ///   node that emits several times and may do so before its caller listens.
    public init(keepsEveryOutcome: Bool = false) {
        super.init(keepsAll: keepsEveryOutcome)
    }
}

/// A context whose listeners are always called on a queue: the main queue, unless ``on(_:)`` says another.
///
/// Subscribing and emitting both return before any listener runs, also on the queue itself, so that nothing can block or
/// deadlock. The listeners of one context run one after the other in the order of the events, even on a concurrent queue.
///
/// ```swift
/// AsyncContext<String>().on(.main)
///     .emit(data: "Hello")
///     .onCompleted { label.text = $0 }
/// ```
public final class AsyncContext<Model: Sendable>: Emitter<Model>, @unchecked Sendable {
    // Sendable as its superclass is; it has no state of its own.

    /// A context that calls its listeners on the main queue.
    public init() {
        super.init(queue: .main)
    }

    /// Calls the listeners of what happens from now on on another queue.
    @discardableResult
    public func on(_ queue: DispatchQueue) -> Self {
        deliver(on: queue)
        return self
    }
}

/// A context with any number of listeners, called in the order in which they subscribed.
///
/// Every listener that comes late is told the latest outcome: the data, or the error when that came after it.
public final class MulticastContext<Model: Sendable>: Emitter<Model>, @unchecked Sendable {
    // Sendable as its superclass is; it has no state of its own.

    /// A context that has emitted nothing yet.
    public init() {
        super.init(isMulticast: true)
    }
}

extension Observer {
    /// A context that has emitted data and finished.
    public static func emit(data: Model) -> Context<Model> {
        Context<Model>().emit(data: data).finish()
    }

    /// A context that has emitted an error and finished.
    public static func emit(error: any Error) -> Context<Model> {
        Context<Model>().emit(error: error).finish()
    }
}
