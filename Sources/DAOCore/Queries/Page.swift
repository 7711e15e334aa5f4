import Foundation

/// A page: some rows of a query, and the cursor of the next page.
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
    /// The cursor of the next page. It is nil when this page is not full, because no more rows follow.
    public let next: PageCursor?
    /// The number of rows of all pages, as of this page; nil where it was not asked for.
    public let total: Int?

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - elements: The rows of this page.
    ///   - next: The cursor of the next page; nil when no more rows follow.
    ///   - total: The number of rows of all pages; nil where it was not asked for.
    public init(elements: [Element], next: PageCursor?, total: Int? = nil) {
        self.elements = elements
        self.next = next
        self.total = total
    }
}

extension Page: Sendable where Element: Sendable {}

/// The position after the last row of a page, given by the sort values and the key of that row. While rows
/// are inserted and erased, a sequence of pages never repeats a row and never skips a row that was stored
/// throughout (contract Q5).
///
/// A cursor is opaque and can be stored or sent as text. It contains the row's values of the sorted fields.
public struct PageCursor: Sendable, Hashable, Codable {
    private let entity: String
    private var fields: [String]
    private let values: [CursorValue]
    /// Whether only rows are meant that are equal to the row in the first field of the order. It is not encoded.
    private var isWithinFirst = false

    private enum CodingKeys: String, CodingKey { case entity, fields, values }

    /// The cursor for the rows that are equal to the row in the first field of the order; nil when the order is that
    /// of the key.
    var withinFirst: PageCursor? {
        if values.count < 2 { return nil }
        var cursor = self
        cursor.isWithinFirst = true
        return cursor
    }

    /// Creates a cursor after a row in an order.
    package init<Record: Model>(after record: Record, in order: [SortTerm]) {
        let schema = Record.schema
        entity = schema.description.name
        fields = Self.names(of: order, in: schema.description)
        values = order.map { CursorValue(schema.value(at: $0.field, of: record)) }
    }

    /// Creates a cursor after the values of the terms of a query that sorts by fields of related rows.
    init<Record: Model>(after values: [Value], in query: Query<Record>) throws {
        entity = Record.schema.description.name
        fields = try query.relatedTerms().map { try $0.name(in: Record.schema) }
        self.values = values.map { CursorValue($0) }
    }

    /// Creates a cursor after values in an order.
    init(after values: some Sequence<Value>, in order: [SortTerm], of entity: EntityDescription) {
        self.entity = entity.name
        fields = Self.names(of: order, in: entity)
        self.values = values.map { CursorValue($0) }
    }

    private static func names(of order: [SortTerm], in entity: EntityDescription) -> [String] {
        order.map { (entity.fields[$0.field].name) + ($0.isAscending ? "+" : "-") }
    }

    /// Returns the position in an order whose terms have other names.
    func renamed(_ name: (String) -> String) -> PageCursor {
        var cursor = self
        cursor.fields = fields.map { name(String($0.dropLast())) + $0.suffix(1) }
        return cursor
    }

    /// Returns the values of the terms of a query that sorts by fields of related rows.
    ///
    /// - Throws: `.invalidQuery` when the cursor belongs to another query, or is damaged.
    func values<Record: Model>(of terms: [RelatedTerm], in schema: Schema<Record>) throws -> [Value] {
        let entity = schema.description
        try check(try terms.map { try $0.name(in: schema) }, entity)
        return try zip(terms, values).map { term, stored in
            try Self.check(stored.value, try term.description(in: schema), entity)
            return stored.value
        }
    }

    private func check(_ names: [String], _ entity: EntityDescription) throws {
        guard self.entity == entity.name, fields == names, values.count == names.count else {
            throw StorageError(
                .invalidQuery,
                "the page cursor belongs to a query with another order or of another entity; begin at the first page",
                entity: entity.name)
        }
    }

    private static func check(_ value: Value, _ field: FieldDescription, _ entity: EntityDescription) throws {
        guard value.isNull || value.fits(field.type.kind) else {
            throw StorageError(
                .invalidQuery, "the page cursor is damaged; begin at the first page", entity: entity.name, field: field.name)
        }
    }

    /// Returns a filter of the rows after the cursor in its order.
    ///
    /// - Throws: `.invalidQuery` when the cursor belongs to a query with a different order or of a different
    ///   entity.
    func filter(order: [SortTerm], entity: EntityDescription) throws -> Filter {
        try check(Self.names(of: order, in: entity), entity)
        for (term, stored) in zip(order, values) { try Self.check(stored.value, entity.fields[term.field], entity) }
        let values = self.values.lazy.map(\.value)
        guard isWithinFirst, let first = order.first, let value = values.first else {
            return Self.filter(after: values, in: order, of: entity)
        }
        return .every([
            Self.equal(first, value), Self.filter(after: values.dropFirst(), in: Array(order.dropFirst()), of: entity),
        ])
    }

    private static func equal(_ term: SortTerm, _ value: Value) -> Filter {
        value.isNull ? .isNull(field: term.field, true) : .compare(field: term.field, .equal, value)
    }

    /// Returns a filter of the rows after the values of the terms of an order.
    static func filter(after values: some Collection<Value>, in order: [SortTerm], of entity: EntityDescription) -> Filter {
        /// In descending order, the rows without a value come after all values.
        func orNull(_ term: SortTerm, _ filter: Filter) -> Filter {
            entity.fields[term.field].type.isOptional ? .any([filter, .isNull(field: term.field, true)]) : filter
        }
        /// The rows whose value of a term comes after the given value.
        func beyond(_ term: SortTerm, _ value: Value) -> Filter {
            switch (value.isNull, term.isAscending) {
            case (true, true): .isNull(field: term.field, false)
            case (true, false): .none
            case (false, true): .compare(field: term.field, .greater, value)
            case (false, false): orNull(term, .compare(field: term.field, .less, value))
            }
        }
        // (a > x) or (a = x and b > y) or … In front stands the bound on the first term, where an index scan
        // can begin.
        var alternatives: [Filter] = []
        var equalSoFar: [Filter] = []
        for (term, value) in zip(order, values) {
            alternatives.append(.every(equalSoFar + [beyond(term, value)]))
            equalSoFar.append(equal(term, value))
        }
        guard order.count > 1, let first = order.first, let value = values.first else { return .any(alternatives) }
        let bound: Filter =
            value.isNull
            ? (first.isAscending ? .all : .isNull(field: first.field, true))
            : (first.isAscending
                ? .compare(field: first.field, .greaterOrEqual, value)
                : orNull(first, .compare(field: first.field, .lessOrEqual, value)))
        return .every([bound, .any(alternatives)])
    }
}

/// A value in a cursor. Encoding and decoding keep it exactly.
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
    /// Whether a field of the kind can contain the value.
    fileprivate func fits(_ kind: ValueKind) -> Bool {
        switch (self, kind) {
        case (.bool, .bool), (.double, .double), (.double, .float), (.decimal, .decimal), (.string, .string), (.string, .url),
            (.data, .data), (.uuid, .uuid), (.date, .date), (.unsigned, .uint64):
            true
        // The key of a related row.
        case (.integer, .toOne), (.unsigned, .toOne), (.string, .toOne), (.uuid, .toOne): true
        case (.integer(let value), _): kind.integerRange?.contains(value) ?? false
        default: false
        }
    }
}
