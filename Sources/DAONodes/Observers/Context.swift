import Dispatch

/// The emitting interface of a context. ``Context``, ``AsyncContext`` and ``MulticastContext`` inherit it.
public class Emitter<Model: Sendable>: Observer<Model>, @unchecked Sendable {
    // Sendable because its superclass is; it adds no state.

    /// Emits data to the listeners. It replaces an earlier outcome that has not been delivered.
    @discardableResult
    public final func emit(data: Model) -> Self {
        emit(.success(data))
        return self
    }

    /// Emits an error to the listeners. It replaces an earlier outcome that has not been delivered.
    @discardableResult
    public final func emit(error: any Error) -> Self {
        emit(.failure(error))
        return self
    }

    /// Finishes the observer, which ends the loops over ``Observer/values``. Later emissions are dropped.
    ///
    /// A late listener still receives earlier emissions. A context that is released without this call
    /// finishes too, because it can no longer emit.
    @discardableResult
    public final func finish() -> Self {
        finishEmitting()
        return self
    }
}

/// The default observer, held by the node that emits.
///
/// An emission does not finish the context: it can emit any number of times, data and errors in any order.
/// The latest outcome waits for a listener; an earlier outcome without a listener is lost.
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
    // Sendable because its superclass is; it adds no state.

    /// Creates a context without emissions.
    ///
    /// - Parameter keepsEveryOutcome: whether every outcome waits for a listener, in order, instead of only
    ///   the latest: for a node that emits several times, possibly before its caller listens.
    public init(keepsEveryOutcome: Bool = false) {
        super.init(keepsAll: keepsEveryOutcome)
    }
}

/// A context that always calls its listeners on a queue: the main queue, unless ``on(_:)`` sets another
/// queue.
///
/// Subscribing and emitting both return before any listener runs, even on the queue itself, so they cannot
/// block or deadlock. The listeners of a context run one at a time in the order of the events, even on a
/// concurrent queue.
///
/// ```swift
/// AsyncContext<String>().on(.main)
///     .emit(data: "Hello")
///     .onCompleted { label.text = $0 }
/// ```
public final class AsyncContext<Model: Sendable>: Emitter<Model>, @unchecked Sendable {
    // Sendable because its superclass is; it adds no state.

    /// Creates a context that calls its listeners on the main queue.
    public init() {
        super.init(queue: .main)
    }

    /// Calls the listeners of all later events on another queue.
    @discardableResult
    public func on(_ queue: DispatchQueue) -> Self {
        deliver(on: queue)
        return self
    }
}

/// A context with any number of listeners. They are called in the order of subscription.
///
/// Every late listener receives the latest outcome: the data, or the error when the error came after the
/// data.
public final class MulticastContext<Model: Sendable>: Emitter<Model>, @unchecked Sendable {
    // Sendable because its superclass is; it adds no state.

    /// Creates a context without emissions.
    public init() {
        super.init(isMulticast: true)
    }
}

extension Observer {
    /// Returns a context that has emitted data and finished.
    public static func emit(data: Model) -> Context<Model> {
        Context<Model>().emit(data: data).finish()
    }

    /// Returns the observer of a closure, or one that has emitted the error of the closure.
    static func trying(_ make: () throws -> Observer<Model>) -> Observer<Model> {
        do {
            return try make()
        } catch {
            return emit(error: error)
        }
    }

    /// Returns a context that has emitted an error and finished.
    public static func emit(error: any Error) -> Context<Model> {
        Context<Model>().emit(error: error).finish()
    }
}
