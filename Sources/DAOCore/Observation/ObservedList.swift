import Observation

/// The values of a query for a view. They are always those of the last commit, together with their last
/// change.
///
/// ```swift
/// struct UnreadView: View {
///     @State var list: ObservedList<MessageTranslator>
///
///     var body: some View {
///         List(list.elements, id: \.uniqueId) { Text($0.text) }
///             .overlay { if list.isLoading { ProgressView() } else if list.isEmpty { Text("All read") } }
///             .overlay { if let error = list.error { Button("Try again: \(error)") { list.retry() } } }
///     }
/// }
///
/// UnreadView(list: ObservedList(messages, orderedBy: .descending(\.date)) { !$0.isRead })
/// ```
///
/// The list observes its query from its creation until its last reference is dropped. It is isolated to the
/// main actor; reads and translations run on other threads. The guarantees of ``ValueObservation`` about
/// commits, their order and a slow consumer apply to it.
@MainActor @Observable
public final class ObservedList<Subject: TranslatorOrModel> {
    /// The values, in the order of the query. They are empty until the first result. After an error, and
    /// until the first result of a new query, they are those of the last result.
    public private(set) var elements: [DAO<Subject>.Plain] = []

    /// Whether the first result of the query is pending.
    public private(set) var isLoading = true

    /// The error that ended the observation; nil while the query is observed. ``retry()`` observes again.
    public private(set) var error: (any Error)?

    /// The change from the previous elements to the current elements. After a new query, every element that
    /// was already in the list counts as updated.
    public private(set) var change = ListChange(from: [], to: [])

    /// The number of changes of the elements. A view can apply each ``change`` to its elements. When the
    /// revision has grown by more than one, the view has missed a change and must reload ``elements``.
    public private(set) var revision = 0

    /// Whether a result exists and is empty.
    public var isEmpty: Bool { elements.isEmpty && !isLoading && error == nil }

    /// The observed query. Setting a different query starts a new observation; setting an equal query does
    /// nothing.
    public var query: Query<DAO<Subject>.Record> {
        get { followed }
        set {
            guard newValue != followed else { return }
            followed = newValue
            follow()
        }
    }

    private var followed: Query<DAO<Subject>.Record>
    @ObservationIgnored private let dao: DAO<Subject>
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Creates a list and starts to observe a query.
    ///
    /// - Parameters:
    ///   - dao: The DAO that reads the values.
    ///   - query: The query; by default all values in key order.
    public init(_ dao: DAO<Subject>, query: Query<DAO<Subject>.Record> = Query()) {
        self.dao = dao
        followed = query
        follow()
    }

    /// Creates a list and starts to observe the values that meet a condition.
    ///
    /// - Parameters:
    ///   - dao: The DAO that reads the values.
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values; nil for all.
    ///   - condition: A closure that makes the condition from the fields of the model.
    public convenience init(
        _ dao: DAO<Subject>, orderedBy order: Sort<DAO<Subject>.Record>..., limit: Int? = nil,
        where condition: (FieldProxy<DAO<Subject>.Record>) -> some ConditionConvertible<DAO<Subject>.Record>
    ) {
        self.init(dao, query: Query(where: Condition(condition), orderedBy: order, limit: limit))
    }

    deinit { task?.cancel() }

    /// Starts a new observation after an error. Without an error it does nothing.
    public func retry() {
        if error != nil { follow() }
    }

    private func follow() {
        task?.cancel()
        if !isLoading { isLoading = true }
        if error != nil { error = nil }
        let changes = dao.observeChanges(followed)
        task = Task { [weak self] in
            var isFirst = true
            do {
                for try await change in changes {
                    // A new query also cancels the task of the previous query.
                    guard !Task.isCancelled, let self else { return }
                    self.show(change, isFirst: isFirst)
                    isFirst = false
                }
            } catch {
                guard !Task.isCancelled else { return }
                self?.fail(error)
            }
        }
    }

    private func show(_ observed: ObservedChange<DAO<Subject>.Plain>, isFirst: Bool) {
        let updated = Set(observed.updated)
        let change = ListChange(from: elements.map(\.uniqueId), to: observed.elements.map(\.uniqueId)) {
            isFirst || updated.contains($0)
        }
        if isLoading { isLoading = false }
        guard !change.isEmpty else { return }
        self.change = change
        elements = observed.elements
        revision += 1
    }

    private func fail(_ error: any Error) {
        self.error = error
        isLoading = false
    }
}
