import Observation

/// An observed value for a view: the count, the row or the screen that a ``ValueObservation`` delivers.
///
/// ```swift
/// struct Badge: View {
///     @State var unread: ObservedValue<Int>
///
///     var body: some View { Text("\(unread.value)") }
/// }
///
/// Badge(unread: ObservedValue(database.observe { try messages.count { !$0.isRead } }, initially: 0))
/// ```
///
/// It observes from its creation until its last reference is dropped. It is isolated to the main actor; reads run on other threads.
/// The guarantees of ``ValueObservation`` about commits, their order and a slow consumer apply to it.
@MainActor @Observable
public final class ObservedValue<Value: Sendable> {
    /// The value of the last commit. Until the first result it is the initial value, and after an error the last one.
    public private(set) var value: Value

    /// Whether the first result is pending.
    public private(set) var isLoading = true

    /// The error that ended the observation; nil while the value is observed. ``retry()`` observes again.
    public private(set) var error: (any Error)?

    @ObservationIgnored private let observation: ValueObservation<Value>
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Creates the value and starts to observe it.
    ///
    /// - Parameters:
    ///   - observation: The observation, of ``Database/observe(_:)`` or of a ``DAO``.
    ///   - value: The value until the first result.
    ///   - immediately: Whether the first result is read at once, on the main thread, so that the first frame of a view has it.
    public init(_ observation: ValueObservation<Value>, initially value: Value, immediately: Bool = false) {
        self.observation = observation
        self.value = value
        follow(immediately: immediately)
    }

    deinit { task?.cancel() }

    /// Starts a new observation after an error. Without an error it does nothing.
    public func retry() {
        if error != nil { follow(immediately: false) }
    }

    private func follow(immediately: Bool) {
        if !isLoading { isLoading = true }
        if error != nil { error = nil }
        var values = observation.makeAsyncIterator()
        do {
            if immediately, let value = try values.nextAtOnce() { show(value) }
        } catch {
            return fail(error)
        }
        task = Task { [weak self, values] in
            var values = values
            do {
                while let value = try await values.next() {
                    guard !Task.isCancelled, let self else { return }
                    self.show(value)
                }
            } catch {
                guard !Task.isCancelled else { return }
                self?.fail(error)
            }
        }
    }

    private func show(_ value: Value) {
        self.value = value
        if isLoading { isLoading = false }
    }

    private func fail(_ error: any Error) {
        self.error = error
        isLoading = false
    }
}
