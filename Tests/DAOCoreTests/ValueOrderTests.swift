import DAOCore
import Foundation
import Testing

@Suite("P3 · Values have one total order")
struct ValueOrderTests {

    static let edgeCases: [Value] = {
        var values: [Value] = [.null, .bool(false), .bool(true)]
        for number: Int64 in [.min, .min + 1, -(1 << 53) - 1, -(1 << 53), -1, 0, 1, 5, (1 << 53), (1 << 53) + 1, .max - 1, .max] {
            values.append(.integer(number))
        }
        for number: UInt64 in [0, 5, UInt64(Int64.max), UInt64(Int64.max) + 1, 9_223_372_036_854_775_850, .max - 1, .max] {
            values.append(.unsigned(number))
        }
        let doubles: [Double] = [
            0, -0.0, 0.1, 0.3, -0.1, 1.5, 5, 0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, 0x1p64, 0x1p64.nextDown, 0x1p63.nextUp, 9.3e18,
            1e23, 1e30, 1e166,
            -1e166, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude,
            1e-127,
            1.2345678901234567e-120, -1.2345678901234567e-120, 1e-129, Double(Float(0.1)), .pi,
        ]
        values += doubles.map { .double($0) }
        let decimals = [
            "0", "0.1", "0.3", "-0.1", "1.5", "5", "5.000", "9007199254740993", "9223372036854775807", "9223372036854775808",
            "9223372036854775900",
            "9223372036854776000", "18446744073709551615", "18446744073709551616", "18446744073709552000", "1e23", "1e127",
            "-1e127", "1e-128",
            "-1e-128", "1.2345678e-120", "99999999999999999999999999999999999999", "0.10000000149011612", "3.141592653589793",
        ]
        values += decimals.compactMap { Decimal(string: $0) }.map { .decimal($0) } + [.decimal(.nan)]
        values += ["", "a", "Z", "é", "e\u{301}", "f", "\u{FFFD}", "\u{10000}", "a\0", "a\u{1}", "ab"].map { .string($0) }
        values += [Data(), Data([0]), Data([0, 0]), Data([255]), Data([1, 2])].map { .data($0) }
        values += [.uuid(.zero), .uuid(UUID(uuid: (255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))]
        values += [0, -1, 1, .nan, .infinity, -.infinity, -0.0].map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        return values
    }()

    @Test func orderIsTotal() {
        for left in Self.edgeCases {
            #expect(Value.order(left, left) == 0, "\(left)")
            for right in Self.edgeCases {
                let order = Value.order(left, right).signum()
                #expect(order == -Value.order(right, left).signum(), "\(left) and \(right)")
                if order == 0 { #expect(left.hashValue == right.hashValue, "\(left) and \(right)") }
            }
        }
    }

    @Test func orderIsTransitive() {
        for left in Self.edgeCases {
            for middle in Self.edgeCases where Value.order(left, middle) <= 0 {
                for right in Self.edgeCases where Value.order(middle, right) <= 0 {
                    if Value.order(left, right) > 0 { Issue.record("\(left) ≤ \(middle) ≤ \(right)") }
                    if Value.order(left, right) == 0, Value.order(left, middle) != 0 {
                        Issue.record("\(left) = \(right), \(middle) between")
                    }
                }
            }
        }
    }

    @Test func numbersCompareAsNumbers() throws {
        #expect(Value.integer(.max) != .double(0x1p63))
        #expect(Value.order(.integer(.max), .double(0x1p63)) < 0)
        #expect(Value.order(.integer((1 << 53) + 1), .double(0x1p53)) > 0)
        #expect(Value.order(.unsigned(.max), .double(0x1p64)) < 0)
        #expect(Value.decimal(try decimal("0.3")) == .double(0.3))
        #expect(Value.decimal(try decimal("0.3")) != .double(0.3.nextUp))
        #expect(Value.decimal(5) == .integer(5))
        #expect(Value.unsigned(5) == .integer(5))
        #expect(Value.double(.nan) == .double(-.nan))
        #expect(Value.order(.double(.nan), .double(.infinity)) > 0)
        #expect(Value.order(.decimal(.nan), .double(.infinity)) > 0)
        #expect(Value.order(.decimal(try decimal("1e127")), .double(1e200)) < 0)
        #expect(Value.order(.decimal(try decimal("1e-128")), .double(.leastNonzeroMagnitude)) > 0)
        #expect(Value.order(.decimal(0), .double(.leastNonzeroMagnitude)) < 0)
        #expect(Value.order(.bool(true), .integer(0)) < 0)
        #expect(Value.order(.null, .bool(false)) < 0)
    }

    @Test func textIsComparedByBytes() {
        let sorted = ["Z", "a", "a\0", "a\u{1}", "ab", "e\u{301}", "f", "é", "\u{FFFD}", "\u{10000}"]
        #expect(sorted.reversed().map(Value.string).sorted { Value.order($0, $1) < 0 } == sorted.map(Value.string))
        #expect(Value.string("é") != .string("e\u{301}"))
        #expect(ValueSet([.string("é"), .string("e\u{301}"), .string("é")]).values.count == 2)
        #expect(ValueSet([.double(.nan), .double(-.nan)]).contains(.double(.nan)))
    }

    @Test func equalDecimalsAreOneSetMember() throws {
        for seed in 1...500 {
            let number = try decimal("0.\(seed * 7919 % 100_003)")
            let padded = Decimal(sign: .plus, exponent: number.exponent - 3, significand: number.significand * 1000)
            #expect(padded == number)
            #expect(ValueSet([.decimal(number), .decimal(padded)]).values.count == 1, "\(number)")
            #expect(number.storedText == padded.storedText)
        }
    }
}
