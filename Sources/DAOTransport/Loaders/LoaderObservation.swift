/// The observation of a loader. It ends with ``cancel()``, or when this object is released.
public final class LoaderObservation: Sendable {
    private let onCancel: Locked<(@Sendable () -> Void)?>

    /// Creates an observation. The closure ends it and is called once.
    public init(_ onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = Locked(onCancel)
    }

    deinit {
        cancel()
    }

    /// Ends the observation. A second call has no effect.
    public func cancel() {
        let end = onCancel.withLock { closure in
            defer { closure = nil }
            return closure
        }
        end?()
    }
}
