import Observation

/// The values of a query as a view shows them: always those of the last commit, with how they came to be.
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
/// It begins to follow its query when it is made and stops when nobody holds it any more. It lives on the main actor; reading and
/// translating happen elsewhere. What ``QueryObservation`` says of commits, their order and a slow consumer holds here too.
@MainActor @Observable
public final class ObservedList<Mapping: Translator> {
    /// The values, in the query's order: empty until the first result is there, and those of the last result after an error or while a new
    /// query is on its way.
    public private(set) var elements: [Mapping.Plain] = []

    /// Whether the first result of the query is on its way.
    public private(set) var isLoading = true

    /// Why the values are not followed any more; nil while they are. ``retry()`` begins again.
    public private(set) var error: (any Error)?

    /// How the elements before became these. After a new query every element that was there before counts as updated.
    public private(set) var change = ListChange(from: [], to: [])

    /// How often the elements have changed. A view that applies each ``change`` to what it shows has missed one when this has grown by more
    /// than one, and shows ``elements`` anew then.
    public private(set) var revision = 0

    /// Whether there is a result, and it is empty.
    public var isEmpty: Bool { elements.isEmpty && !isLoading && error == nil }

    /// What is shown. Another query begins anew; setting an equal one does nothing.
    public var query: Query<Mapping.Model> {
        get { followed }
        set {
            guard newValue != followed else { return }
            followed = newValue
            follow()
        }
    }

    private var followed: Query<Mapping.Model>
    @ObservationIgnored private let dao: DAO<Mapping>
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Begins to follow a query.
    ///
    /// - Parameters:
    ///   - dao: Where from.
    ///   - query: Which values, in which order.
    public init(_ dao: DAO<Mapping>, query: Query<Mapping.Model> = Query()) {
        self.dao = dao
        followed = query
        follow()
    }

    /// Begins to follow the values that meet a condition.
    ///
    /// - Parameters:
    ///   - dao: Where from.
    ///   - order: The sort terms; by primary key when there are none.
    ///   - limit: How many at most; nil for all.
    ///   - condition: Makes the condition from the model's fields.
    public convenience init(
        _ dao: DAO<Mapping>, orderedBy order: Sort<Mapping.Model>..., limit: Int? = nil,
        where condition: (FieldProxy<Mapping.Model>) -> some ConditionConvertible<Mapping.Model>
    ) {
        self.init(dao, query: Query(where: Condition(condition), orderedBy: order, limit: limit))
    }

    deinit { task?.cancel() }

    /// Begins anew after an error; does nothing without one.
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
                    // Cancelled is also who has been told to follow another query meanwhile.
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

    private func show(_ observed: ObservedChange<Mapping.Plain>, isFirst: Bool) {
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
