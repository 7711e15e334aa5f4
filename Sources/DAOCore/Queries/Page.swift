import Foundation

/// Some rows of a query, and where the next ones begin.
///
/// ```swift
/// var page = try messages.page(orderedBy: .descending(\.date), limit: 50)
/// while let next = page.next {
///     page = try messages.page(orderedBy: .descending(\.date), limit: 50, after: next)
/// }
/// ```
public struct Page<Element> {
    /// The rows of this page.
    public let elements: [Element]
    /// Where the next page begins; nil when this one was not full, so there are no more rows.
    public let next: PageCursor?

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - elements: The rows of this page.
    ///   - next: Where the next page begins.
    public init(elements: [Element], next: PageCursor?) {
        self.elements = elements
        self.next = next
    }
}

extension Page: Sendable where Element: Sendable {}

/// Marks the last row of a page by its sort values and key, so that walking pages while rows come and go neither repeats a row nor
/// skips one that was there throughout (contract Q5).
///
/// It is opaque and can be stored or sent as text; it holds values of the fields that the query sorts by.
public struct PageCursor: Sendable, Hashable, Codable {
    private let entity: String
    private let fields: [String]
    private let values: [CursorValue]

    /// Marks the row with these values in an order.
    package init(entity: EntityDescription, order: [SortTerm], values: [Value]) {
        self.entity = entity.name
        fields = Self.names(of: order, in: entity)
        self.values = values.map(CursorValue.init)
    }

    private static func names(of order: [SortTerm], in entity: EntityDescription) -> [String] {
        order.map { (entity.fields[$0.field].name) + ($0.isAscending ? "+" : "-") }
    }

    /// The rows that come after the cursor's in its order.
    ///
    /// - Throws: `.invalidQuery` when the cursor was made by a query with another order or of another entity.
    func filter(order: [SortTerm], entity: EntityDescription) throws -> Filter {
        guard self.entity == entity.name, fields == Self.names(of: order, in: entity), values.count == order.count else {
            throw StorageError(
                .invalidQuery,
                "the page cursor belongs to a query with another order or of another entity; begin at the first page",
                entity: entity.name)
        }
        // (a > x) or (a = x and b > y) or …, and in front the bound on the first term, for an index to begin at.
        var alternatives: [Filter] = []
        var equalSoFar: [Filter] = []
        for (term, stored) in zip(order, values) {
            let value = stored.value
            let kind = entity.fields[term.field].type.kind
            guard value.isNull || value.fits(kind) else {
                throw StorageError(
                    .invalidQuery, "the page cursor is damaged; begin at the first page", entity: entity.name,
                    field: entity.fields[term.field].name)
            }
            alternatives.append(.every(equalSoFar + [Self.beyond(term, value)]))
            equalSoFar.append(value.isNull ? .isNull(field: term.field, true) : .compare(field: term.field, .equal, value))
        }
        guard order.count > 1, let first = order.first, let value = values.first?.value else { return .any(alternatives) }
        let bound: Filter =
            value.isNull
            ? (first.isAscending ? .all : .isNull(field: first.field, true))
            : (first.isAscending
                ? .compare(field: first.field, .greaterOrEqual, value)
                : .any([.compare(field: first.field, .lessOrEqual, value), .isNull(field: first.field, true)]))
        return .every([bound, .any(alternatives)])
    }

    /// The rows whose value of one term is after the given one.
    private static func beyond(_ term: SortTerm, _ value: Value) -> Filter {
        switch (value.isNull, term.isAscending) {
        case (true, true): .isNull(field: term.field, false)
        case (true, false): .none
        case (false, true): .compare(field: term.field, .greater, value)
        case (false, false):
            .any([.compare(field: term.field, .less, value), .isNull(field: term.field, true)])
        }
    }
}

/// A value as a cursor keeps it: exact through any coding.
private struct CursorValue: Hashable, Codable {
    let value: Value

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let parts = try container.decode([String].self)
        func bad() -> DecodingError { .dataCorruptedError(in: container, debugDescription: "not a page cursor") }
        guard parts.count == 2 else { throw bad() }
        let text = parts[1]
        let value: Value? =
            switch parts[0] {
            case "null": .null
            case "bool": .bool(text == "1")
            case "integer": Int64(text).map(Value.integer)
            case "unsigned": UInt64(text).map { $0.fieldValue }
            case "double": UInt64(text).map { .double(Double(bitPattern: $0).normalized) }
            case "date": UInt64(text).map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0).normalized)) }
            case "decimal": Decimal(storedText: text).map(Value.decimal)
            case "string": .string(text)
            case "data": Data(base64Encoded: text).map(Value.data)
            case "uuid": UUID(uuidString: text).map(Value.uuid)
            default: nil
            }
        guard let value else { throw bad() }
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        let parts: [String] =
            switch value {
            case .null: ["null", ""]
            case .bool(let value): ["bool", value ? "1" : "0"]
            case .integer(let value): ["integer", String(value)]
            case .unsigned(let value): ["unsigned", String(value)]
            case .double(let value): ["double", String(value.bitPattern)]
            case .date(let value): ["date", String(value.timeIntervalSinceReferenceDate.bitPattern)]
            case .decimal(let value): ["decimal", value.storedText]
            case .string(let value): ["string", value]
            case .data(let value): ["data", value.base64EncodedString()]
            case .uuid(let value): ["uuid", value.uuidString]
            }
        var container = encoder.singleValueContainer()
        try container.encode(parts)
    }
}

extension Value {
    /// Whether the value is one that a field of the kind holds.
    fileprivate func fits(_ kind: ValueKind) -> Bool {
        switch (self, kind) {
        case (.bool, .bool), (.double, .double), (.double, .float), (.decimal, .decimal), (.string, .string), (.string, .url),
            (.data, .data), (.uuid, .uuid), (.date, .date), (.unsigned, .uint64):
            true
        case (.integer(let value), _): kind.integerRange?.contains(value) ?? false
        default: false
        }
    }
}
