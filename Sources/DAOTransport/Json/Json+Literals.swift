extension Json: ExpressibleByNilLiteral {
    /// `null`.
    public init(nilLiteral: ()) {
        self = .null
    }
}

extension Json: ExpressibleByBooleanLiteral {
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}

extension Json: ExpressibleByIntegerLiteral {
    /// A whole number. Values above `Int64.max` are made with ``init(_:)-(Integer)``.
    public init(integerLiteral value: Int64) {
        self = .number(Number(value))
    }
}

extension Json: ExpressibleByFloatLiteral {
    /// A number with a fraction; `null` when the literal is too large for a `Double`.
    public init(floatLiteral value: Double) {
        self = Json(value)
    }
}

extension Json: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// A text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension Json: ExpressibleByArrayLiteral {
    /// A list.
    public init(arrayLiteral elements: Json...) {
        self = .array(elements)
    }
}

extension Json: ExpressibleByDictionaryLiteral {
    /// An object. Of a key that is written twice the last value counts.
    public init(dictionaryLiteral elements: (String, Json)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension Json {
    /// A whole number of any width, kept exactly.
    public init<Integer: FixedWidthInteger>(_ value: Integer) {
        self = .number(Number(value))
    }

    /// A number with a fraction; `null` for a NaN and the infinities, which JSON cannot write.
    public init(_ value: Double) {
        self = Number(value).map(Json.number) ?? .null
    }

    /// A text.
    public init(_ value: String) {
        self = .string(value)
    }

    /// `true` or `false`.
    public init(_ value: Bool) {
        self = .bool(value)
    }
}
