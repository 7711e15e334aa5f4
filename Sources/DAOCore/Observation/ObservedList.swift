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
    ///   - immediately: Whether the first result is read at once, on the main thread, so that the first frame of a view has rows.
    public init(_ dao: DAO<Subject>, query: Query<DAO<Subject>.Record> = Query(), immediately: Bool = false) {
        self.dao = dao
        followed = query
        follow(immediately: immediately)
    }

    /// Creates a list and starts to observe the values that meet a condition.
    ///
    /// - Parameters:
    ///   - dao: The DAO that reads the values.
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values; nil for all.
    ///   - immediately: Whether the first result is read at once, on the main thread, so that the first frame of a view has rows.
    ///   - condition: A closure that makes the condition from the fields of the model.
    public convenience init(
        _ dao: DAO<Subject>, orderedBy order: Sort<DAO<Subject>.Record>..., limit: Int? = nil, immediately: Bool = false,
        where condition: (FieldProxy<DAO<Subject>.Record>) -> some ConditionConvertible<DAO<Subject>.Record>
    ) {
        self.init(dao, query: Query(where: Condition(condition), orderedBy: order, limit: limit), immediately: immediately)
    }

    deinit { task?.cancel() }

    /// Starts a new observation after an error. Without an error it does nothing.
    public func retry() {
        if error != nil { follow() }
    }

    private func follow(immediately: Bool = false) {
        task?.cancel()
        if !isLoading { isLoading = true }
        if error != nil { error = nil }
        var changes = dao.observeChanges(followed).makeAsyncIterator()
        var isFirst = true
        do {
            if immediately, let change = try changes.nextAtOnce() {
                show(change, isFirst: true)
                isFirst = false
            }
        } catch {
            return fail(error)
        }
        task = Task { [weak self, changes, isFirst] in
            var (changes, isFirst) = (changes, isFirst)
            do {
                while let change = try await changes.next() {
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
