import DAOCore
import Foundation

extension SeededGenerator {
    /// A value of a kind.
    ///
    /// - Parameter isUnique: Whether it is to be one of many, so that rows seldom collide.
    package mutating func value(of kind: ValueKind, isUnique: Bool = false) -> Value {
        switch kind {
        case .bool: return .bool(chance(50))
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
            let range = kind.integerRange ?? 0...0
            if isUnique { return .integer(Int64(below(40))) }
            return .integer(pick(HardValues.integers.filter { range.contains($0) } + [range.lowerBound, range.upperBound]))
        case .uint64: return (isUnique ? UInt64(below(60)) &* 0x0800_0000_0000_0001 : pick(HardValues.unsigned)).fieldValue
        case .float: return .double(Double(pick(HardValues.floats)))
        case .double: return .double(pick(HardValues.doubles))
        case .decimal: return .decimal(pick(HardValues.decimals))
        case .string: return .string(pick(HardValues.strings))
        case .data: return .data(pick(HardValues.data))
        case .uuid: return .uuid(pick(HardValues.uuids))
        case .url: return .string(pick(HardValues.urls))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: pick(HardValues.dates)))
        case .embedded: return .string("[]")
        case .toOne, .toMany: return .null
        }
    }
}
