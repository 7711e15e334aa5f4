/// The observation of a loader: it lasts as long as this object, or until ``cancel()``.
public final class LoaderObservation: Sendable {
    private let onCancel: Locked<(@Sendable () -> Void)?>

    /// An observation that is ended by a closure, which is called once.
    public init(_ onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = Locked(onCancel)
    }

    deinit {
        cancel()
    }

    /// Ends the observation. Ending it again does nothing.
    public func cancel() {
        let end = onCancel.withLock { closure in
            defer { closure = nil }
            return closure
        }
        end?()
    }
}
