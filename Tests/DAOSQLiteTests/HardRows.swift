import DAOCore
import DAOTestSupport
import Foundation

/// Rows with values that storages tend to lose.
enum HardRows {
    static let integers = HardValues.integers.map { Int($0) }
    static let unsigned = HardValues.unsigned
    static let strings = HardValues.strings + [String(repeating: "x", count: 5000)]
    static let data = HardValues.data + [Data(repeating: 7, count: 100_000)]
    static let floats = HardValues.floats.filter { !($0 == 0 && $0.sign == .minus) }
    static let urls = HardValues.urls.compactMap { URL(string: $0) }
    static let dates = HardValues.storedDoubles.map(Date.init(timeIntervalSinceReferenceDate:))

    static func row(_ id: Int, _ random: inout SeededGenerator) -> Everything {
        func maybe<Value>(_ values: [Value]) -> Value? { random.maybe(random.pick(values)) }
        func one<Value>(_ values: [Value]) -> Value { random.pick(values) }
        return Everything(
            id: id, flag: Bool.random(using: &random), small: maybe([-128, -1, 0, 1, 127]), big: one(unsigned),
            bigger: maybe(unsigned),
            ratio: one(HardValues.storedDoubles), maybe: maybe(HardValues.storedDoubles), single: maybe(floats),
            price: one(HardValues.decimals), discount: maybe(HardValues.decimals),
            name: one(strings), note: maybe(strings), bytes: one(data), blob: maybe(data), token: one(HardValues.uuids),
            other: maybe(HardValues.uuids),
            site: maybe(urls), date: one(dates), seen: maybe(dates), mood: maybe([.calm, .wild]),
            tags: one([[], ["a"], ["b", ""]]))
    }
}
