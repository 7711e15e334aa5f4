import Foundation

extension Value {
    /// Returns the value converted exactly to another kind. Numbers convert to equal numbers, numbers and
    /// Booleans to their text and back, a text to the UUID, the URL or, in ISO 8601 with a time and its zone, the date that it
    /// spells. Every value converts to its own kind.
    ///
    /// A conversion that would round, overflow or guess is refused. A migration step must convert such values
    /// itself.
    ///
    /// - Parameter kind: The new kind. Nil remains nil.
    /// - Returns: The converted value; nil when there is no exact conversion.
    public func converted(to kind: ValueKind) -> Value? {
        if isNull { return .null }
        switch kind {
        case .string: return asText.map(Value.string)
        case .bool:
            switch self {
            case .bool: return self
            case .integer(0), .string("false"): return .bool(false)
            case .integer(1), .string("true"): return .bool(true)
            default: return nil
            }
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: return asInteger(of: kind)
        case .double, .float:
            guard let number = asDouble else { return nil }
            return kind == .float && !number.isNaN && Double(Float(number)) != number ? nil : .double(number)
        case .decimal:
            switch self {
            case .decimal: return self
            case .integer(let number): return .decimal(Decimal(number))
            case .unsigned(let number): return .decimal(Decimal(number))
            case .double(let number):
                guard number.isFinite, let place = Decimal.place(of: number), place.isExact else { return nil }
                return .decimal(place.value)
            case .string(let text): return Decimal(strictText: text).map(Value.decimal)
            default: return nil
            }
        case .uuid:
            switch self {
            case .uuid: return self
            case .string(let text): return UUID(uuidString: text).map(Value.uuid)
            default: return nil
            }
        case .data:
            switch self {
            case .data: return self
            case .string(let text): return .data(Data(text.utf8))
            default: return nil
            }
        case .url:
            guard case .string(let text) = self, URL(string: text) != nil else { return nil }
            return self
        case .date:
            switch self {
            case .date: return self
            case .double(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
            case .string(let text):
                return Date(isoText: text, needsZone: true).map(Value.date)
            default: return nil
            }
        case .embedded:
            guard case .string(let text) = self else { return nil }
            return CanonicalJSON.text(text).map(Value.string)
        case .toOne, .toMany: return nil
        }
    }

    private var asText: String? {
        switch self {
        case .string(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        case .double(let number): String(number)
        case .decimal(let number): number.storedText
        case .uuid(let uuid): uuid.uuidString
        case .data(let data): data.withUnsafeBytes { String(checking: $0) }
        case .null, .date: nil
        }
    }

    private func asInteger(of kind: ValueKind) -> Value? {
        let value: Value?
        switch self {
        case .integer, .unsigned: value = self
        case .bool(let flag): value = .integer(flag ? 1 : 0)
        case .double(let number):
            value = Int64(exactly: number).map(Value.integer) ?? UInt64(exactly: number).map(Value.unsigned)
        case .string(let text): value = Self.integer(text)
        // An integer without a fraction is written as one.
        case .decimal(let number): value = Self.integer(number.storedText)
        default: value = nil
        }
        switch value {
        case .integer(let number) where kind.integerRange?.contains(number) == true: return value
        case .unsigned where kind == .uint64: return value
        default: return nil
        }
    }

    private static func integer(_ text: String) -> Value? {
        Int64(text).map(Value.integer) ?? UInt64(text).map(Value.unsigned)
    }

    private var asDouble: Double? {
        switch self {
        case .double(let number): number
        case .integer(let number): Double(exactly: number)
        case .unsigned(let number): Double(exactly: number)
        case .string(let text): Double(strictText: text)?.normalized
        case .decimal(let decimal):
            Double(decimal.storedText).flatMap { $0.isFinite && NumericOrder.order(self, .double($0)) == 0 ? $0 : nil }
        default: nil
        }
    }
}
