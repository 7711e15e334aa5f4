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
    /// Creates an integer. Use ``init(_:)-(Integer)`` for values above `Int64.max`.
    public init(integerLiteral value: Int64) {
        self = .number(Number(value))
    }
}

extension Json: ExpressibleByFloatLiteral {
    /// Creates a number with a fraction; `null` when the literal is too large for a `Double`.
    public init(floatLiteral value: Double) {
        self = Json(value)
    }
}

extension Json: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// A string.
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
    /// Creates an object. When a key occurs twice, the last value is used.
    public init(dictionaryLiteral elements: (String, Json)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension Json {
    /// Creates an integer of any width, kept exactly.
    public init<Integer: FixedWidthInteger>(_ value: Integer) {
        self = .number(Number(value))
    }

    /// Creates a number with a fraction; `null` for NaN and the infinities, which JSON cannot represent.
    public init(_ value: Double) {
        self = Number(value).map(Json.number) ?? .null
    }

    /// A string.
    public init(_ value: String) {
        self = .string(value)
    }

    /// `true` or `false`.
    public init(_ value: Bool) {
        self = .bool(value)
    }
}
