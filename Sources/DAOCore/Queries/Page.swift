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
    /// The cursor of the next page; nil when no more rows followed as this page was read.
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
        self.init(
            after: order.lazy.map { $0.value { schema.value(at: $0, of: record) } }, in: order, of: schema.description)
    }

    /// Creates a cursor after values in an order, which may have terms about related rows.
    init<Record: Model>(after values: some Sequence<Value>, in order: [SortTerm], of schema: Schema<Record>) throws {
        entity = schema.description.name
        fields = try order.map { $0.name(in: schema.description, try schema.targetDescription(of: $0)) }
        self.values = values.map { CursorValue($0) }
    }

    /// Creates a cursor after values in an order.
    init(after values: some Sequence<Value>, in order: [SortTerm], of entity: EntityDescription) {
        self.entity = entity.name
        fields = order.map { $0.name(in: entity, entity) }
        self.values = values.map { CursorValue($0) }
    }

    /// Returns the position in an order whose terms have other names.
    func renamed(_ name: (String) -> String) -> PageCursor {
        var cursor = self
        cursor.fields = fields.map { name(String($0.dropLast())) + $0.suffix(1) }
        return cursor
    }

    /// Returns the values of the terms of an order, which may have terms about related rows.
    ///
    /// - Throws: `.invalidQuery` when the cursor belongs to another query, or is damaged.
    func values<Record: Model>(of terms: [SortTerm], in schema: Schema<Record>) throws -> [Value] {
        let entity = schema.description
        let targets = try terms.map { try schema.targetDescription(of: $0) }
        try check(zip(terms, targets).map { $0.name(in: entity, $1) }, entity)
        for (number, term) in terms.enumerated() { try Self.check(values[number].value, term, targets[number], entity) }
        return values.map(\.value)
    }

    private func check(_ names: [String], _ entity: EntityDescription) throws {
        guard self.entity == entity.name, fields == names, values.count == names.count else {
            throw StorageError(
                .invalidQuery,
                "the page cursor belongs to a query with another order or of another entity; begin at the first page",
                entity: entity.name)
        }
    }

    private static func check(
        _ value: Value, _ term: SortTerm, _ target: EntityDescription, _ entity: EntityDescription
    ) throws {
        let field: String?
        let isSound: Bool
        switch term.subject {
        case .field(let index):
            field = target.fields[index].name
            isSound = value.isNull || value.fits(target.fields[index].type.kind)
        case .folded(let index, _):
            field = target.fields[index].name
            isSound = value.isNull || value.fits(.string)
        case .condition: (field, isSound) = (nil, value.fits(.bool))
        }
        if !isSound {
            throw StorageError(
                .invalidQuery, "the page cursor is damaged; begin at the first page", entity: entity.name, field: field)
        }
    }

    /// Returns a filter of the rows after the cursor in its order.
    ///
    /// - Throws: `.invalidQuery` when the cursor belongs to a query with a different order or of a different
    ///   entity.
    func filter(order: [SortTerm], entity: EntityDescription) throws -> Filter {
        try check(order.map { $0.name(in: entity, entity) }, entity)
        for (term, stored) in zip(order, values) { try Self.check(stored.value, term, entity, entity) }
        let values = self.values.lazy.map(\.value)
        guard isWithinFirst, let first = order.first, let value = values.first else {
            return Self.filter(after: values, in: order, of: entity)
        }
        return .every([
            first.filter(.equal, value), Self.filter(after: values.dropFirst(), in: Array(order.dropFirst()), of: entity),
        ])
    }

    /// Returns a filter of the rows after the values of the terms of an order.
    static func filter(after values: some Collection<Value>, in order: [SortTerm], of entity: EntityDescription) -> Filter {
        // (a > x) or (a = x and b > y) or … In front stands the bound on the first term, where an index scan
        // can begin.
        var alternatives: [Filter] = []
        var equalSoFar: [Filter] = []
        for (term, value) in zip(order, values) {
            alternatives.append(.every(equalSoFar + [term.filter(after: value, orEqual: false, entity)]))
            equalSoFar.append(term.filter(.equal, value))
        }
        guard order.count > 1, let first = order.first, let value = values.first else { return .any(alternatives) }
        return .every([first.filter(after: value, orEqual: true, entity), .any(alternatives)])
    }
}

extension SortTerm {
    /// The name of the term in a cursor. Terms of different orders have different names.
    ///
    /// - Parameters:
    ///   - entity: The entity of the rows.
    ///   - target: The entity of the field.
    fileprivate func name(in entity: EntityDescription, _ target: EntityDescription) -> String {
        let prefix = relation.map { entity.fields[$0].name + "." } ?? ""
        let name: String
        switch subject {
        case .field(let field): name = target.fields[field].name
        case .folded(let field, let options): name = target.fields[field].name + options.letters
        case .condition(let filter, _): name = "?" + filter.signature(in: entity)
        }
        return prefix + name + (nilsFirst == isAscending ? (isAscending ? "+" : "-") : (isAscending ? ">" : "<"))
    }

    /// Returns the filter of the rows whose value compares with a value.
    fileprivate func filter(_ comparison: Comparison, _ value: Value) -> Filter {
        switch (subject, value) {
        case (.condition(let filter, let otherwise), _): value == .bool(true) ? filter : otherwise
        case (.field(let field), .null), (.folded(let field, _), .null): .isNull(field: field, comparison == .equal)
        case (.field(let field), _): .compare(field: field, comparison, value)
        case (.folded(let field, let options), .string(let text)): .compareFolded(field: field, options, comparison, text)
        case (.folded, _): .none
        }
    }

    /// Returns the filter of the rows whose value comes after a value in the order.
    ///
    /// - Parameter orEqual: Whether rows with the value are among them.
    fileprivate func filter(after value: Value, orEqual: Bool, _ entity: EntityDescription) -> Filter {
        switch subject {
        case .condition(let filter, let otherwise):
            if (value == .bool(true)) != isAscending { return orEqual ? .all : isAscending ? filter : otherwise }
            return orEqual ? (isAscending ? filter : otherwise) : .none
        case .field(let field), .folded(let field, _):
            if value.isNull {
                if nilsFirst { return orEqual ? .all : .isNull(field: field, false) }
                return orEqual ? .isNull(field: field, true) : .none
            }
            let comparison: Comparison =
                isAscending ? (orEqual ? .greaterOrEqual : .greater) : (orEqual ? .lessOrEqual : .less)
            let beyond = filter(comparison, value)
            return nilsFirst || !entity.fields[field].type.isOptional ? beyond : .any([beyond, .isNull(field: field, true)])
        }
    }
}

extension Schema {
    /// The entity whose field a term is.
    fileprivate func targetDescription(of term: SortTerm) throws -> EntityDescription {
        try term.relation.map { try checkedRelation(at: $0).targetDescription } ?? description
    }
}

extension Filter {
    /// A number that is the same for equal conditions, in every process: the hash of all their parts.
    fileprivate func signature(in entity: EntityDescription) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ parts: [String]) {
            // No part can be taken for the end of another one.
            for byte in (["\(parts.count)"] + parts.flatMap { ["\($0.utf8.count)", $0] }).joined(separator: " ").utf8 {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            }
        }
        var pending: [(filter: Filter, entity: EntityDescription?)] = [(self, entity)]
        while let (filter, entity) = pending.popLast() {
            func name(_ field: Int) -> String { entity?.fields[field].name ?? "\(field)" }
            func parts(_ value: Value) -> [String] { CursorValue(value).parts }
            switch filter {
            case .all: add(["all"])
            case .none: add(["none"])
            case .and(let filters):
                add(["and", "\(filters.count)"])
                pending += filters.map { ($0, entity) }
            case .or(let filters):
                add(["or", "\(filters.count)"])
                pending += filters.map { ($0, entity) }
            case .isNull(let field, let expected): add(["null", name(field), "\(expected)"])
            case .compare(let field, let comparison, let value):
                add(["compare", name(field), "\(comparison)"] + parts(value))
            case .compareFields(let left, let comparison, let right, let isNegated):
                add(["fields", name(left), "\(comparison)", name(right), "\(isNegated)"])
            case .isIn(let field, let set, let isNegated):
                add(["in", name(field), "\(isNegated)"] + set.values.flatMap(parts))
            case .text(let field, let pattern, let isNegated):
                add(["text", name(field), pattern.match.rawValue, pattern.text, pattern.options.letters, "\(isNegated)"])
            case .compareFolded(let field, let options, let comparison, let text):
                add(["folded", name(field), options.letters, "\(comparison)", text])
            case .related(let related, let isNegated):
                add(["related", related.relation.entity, related.relation.field, "\(related.isInverse)", "\(isNegated)"])
                switch related.test {
                case .isLinked: add(["linked"])
                case .any(let inner): pending.append((inner, related.target.description))
                case .count(let comparison, let count): add(["count", "\(comparison)", "\(count)"])
                case .countMatching(let inner, let comparison, let count):
                    add(["count", "\(comparison)", "\(count)"])
                    pending.append((inner, related.target.description))
                case .compares(let field, let comparison, let relatedField):
                    add(["compares", name(field), "\(comparison)", related.target.description.fields[relatedField].name])
                }
            case .embedded(let embedded, let isNegated):
                add(["embedded", name(embedded.field), "\(isNegated)"])
                switch embedded.part {
                case .anyElement: add(["element"])
                case .count: add(["count"])
                case .member(let member): add(["member", member.name])
                }
                pending.append((embedded.condition, nil))
            }
        }
        return String(hash, radix: 36)
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

    /// The value as two texts.
    var parts: [String] {
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
    }

    func encode(to encoder: any Encoder) throws {
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
