import DAOCore
import DAOTestSupport
import Foundation
import Testing

@testable import DAOKeyValue

/// Encoded values order like the values.
@Suite struct KeyOrderTests {

    /// The bytes of a value, and whether they are truncated.
    private func encode(_ value: Value, _ form: KeyForm, limit: Int = .max) -> (bytes: [UInt8], isCut: Bool) {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            var builder = KeyBuilder(buffer)
            let isCut = builder.append(value, as: form, limit: limit)
            return (Array(builder.bytes), isCut ?? true)
        }
    }

    private func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
        left.lexicographicallyPrecedes(right) ? -1 : (left == right ? 0 : 1)
    }

    private func check(_ form: KeyForm, _ make: (inout SeededGenerator) -> Value) {
        var generator = SeededGenerator(seed: UInt64(form.rawValue) + 1)
        let values = (0..<400).map { _ in make(&generator) }
        let encoded = values.map { encode($0, form).bytes }
        for left in values.indices {
            for right in values.indices {
                let expected = Value.order(values[left], values[right]).signum()
                if order(encoded[left], encoded[right]) != expected {
                    Issue.record(
                        "\(values[left]) and \(values[right]): \(encoded[left]) and \(encoded[right]), expected \(expected)")
                    return
                }
            }
        }
    }

    @Test func signedIntegersKeepTheirOrder() { check(.signed) { .integer(Int64($0.int())) } }
    @Test func unsignedIntegersKeepTheirOrder() {
        check(.unsigned) { generator in
            let value = generator.next() >> UInt64.random(in: 0..<64, using: &generator)
            return Int64(exactly: value).map(Value.integer) ?? .unsigned(value)
        }
    }
    @Test func floating() { check(.floating) { .double($0.double()) } }
    @Test func dates() { check(.floating) { .date(Date(timeIntervalSinceReferenceDate: $0.double())) } }
    @Test func texts() { check(.bytes) { .string($0.chance(20) ? $0.longText() : $0.text()) } }
    @Test func bytes() { check(.bytes) { .data($0.data()) } }
    @Test func uuids() { check(.uuid) { .uuid($0.uuid()) } }
    @Test func decimals() { check(.decimal) { .decimal($0.decimal()) } }
    @Test func booleans() { check(.unsigned) { .bool($0.chance(50)) } }

    @Test func truncatedValuesKeepTheirOrder() {
        var generator = SeededGenerator(seed: 7)
        let values = (0..<300).map { _ in Value.string(generator.chance(80) ? generator.longText() : generator.text()) }
        let encoded = values.map { encode($0, .bytes, limit: KeyForm.limit) }
        for left in values.indices {
            #expect(encoded[left].bytes.count <= KeyForm.limit + 2)
            for right in values.indices where !(encoded[left].isCut && encoded[left].bytes == encoded[right].bytes) {
                let expected = Value.order(values[left], values[right]).signum()
                if order(encoded[left].bytes, encoded[right].bytes) != expected {
                    Issue.record("\(values[left]) and \(values[right]), expected \(expected)")
                    return
                }
            }
        }
    }

    @Test func primaryKeysAreDecodedEqual() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let unsigned = generator.next()
            let keys: [(Key, KeyForm)] = [
                (.integer(Int64(generator.int())), .signed),
                (Int64(exactly: unsigned).map(Key.integer) ?? .unsigned(unsigned), .unsigned),
                (.string(generator.text()), .bytes), (.uuid(generator.uuid()), .uuid),
            ]
            for (key, form) in keys {
                KeyBuilder.with { builder in
                    let isKey = builder.append(key: key, as: form)
                    #expect(isKey)
                    #expect(KeyParser.key(builder.bytes, form: form) == key)
                }
            }
        }
    }

    @Test func keyspacesAreOrderedLikeTheirNumbers() {
        let edges: [UInt32] = [0, 0xEF, 0xF0, 0xFF, 0x100, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, .max - 2, .max]
        let numbers = edges.flatMap { [$0 &- 1, $0, $0 &+ 1] }
        for left in numbers {
            let prefix = Keyspace(left).prefix
            #expect(prefix.count == Keyspace(left).length && prefix.count <= Keyspace.maximumLength)
            #expect(left >= 240 || prefix == [UInt8(left)])
            // A range of keys ends where its keyspace does.
            #expect(prefix.lexicographicallyPrecedes(prefix.successor))
            for right in numbers where left < right {
                #expect(prefix.lexicographicallyPrecedes(Keyspace(right).prefix))
                #expect(!Keyspace(right).prefix.starts(with: prefix))
                #expect(!Keyspace(right).prefix.lexicographicallyPrecedes(prefix.successor))
            }
        }
        #expect(Keyspace(240).prefix == [0xF0, 240])
        #expect(Keyspace(0x1_0203).prefix == [0xF2, 1, 2, 3])
        #expect(Keyspace(.max).prefix == [0xF3, 0xFF, 0xFF, 0xFF, 0xFF])
    }

    @Test func endOfAnIndexedValueIsFound() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<2000 {
            let values: [(Value, KeyForm)] = [
                (.integer(Int64(generator.int())), .signed), (.double(generator.double()), .floating),
                (.uuid(generator.uuid()), .uuid),
                (.string(generator.chance(30) ? generator.longText() : generator.text()), .bytes),
                (.decimal(generator.decimal()), .decimal),
            ]
            for (value, form) in values {
                let end = generator.data()
                let keyspace = Keyspace(generator.pick([7, 239, 240, 70_000, .max]))
                let isAscending = generator.chance(50)
                KeyBuilder.with { builder in
                    builder.append(keyspace)
                    builder.append(byte: 1)
                    let start = builder.count
                    let isCut = builder.append(value, as: form)
                    if !isAscending { builder.invert(from: start) }
                    let count = builder.count
                    end.withUnsafeBytes { builder.append(raw: $0) }
                    let found = KeyParser.indexedValue(
                        in: builder.bytes, from: keyspace.length, form: form, isAscending: isAscending)
                    #expect(found?.end == count)
                    #expect(found?.isCut == isCut)
                }
            }
        }
    }

    @Test func damagedEntriesAreNotDecodedAsValues() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<100_000 {
            let bytes = (0..<Int.random(in: 0..<24, using: &generator)).map { _ in
                generator.pick([0, 1, 2, 3, 4, 0xF, 0xFF, 0x61] as [UInt8])
            }
            bytes.withUnsafeBytes { bytes in
                for form in [KeyForm.signed, .floating, .uuid, .bytes, .decimal] {
                    for isAscending in [true, false] {
                        let value = KeyParser.indexedValue(in: bytes, from: 1, form: form, isAscending: isAscending)
                        if let value { #expect(value.end <= bytes.count) }
                    }
                    _ = KeyParser.key(bytes, form: form)
                }
            }
        }
    }
}
