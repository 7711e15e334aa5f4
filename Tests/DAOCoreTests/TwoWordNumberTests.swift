import DAOTestSupport
import Foundation
import Testing

@testable import DAOCore

/// Numbers of two words, against the standard library's of 128 bits, which begin with macOS 15 and iOS 18.
@available(macOS 15, iOS 18, tvOS 18, visionOS 2, *)
private let words: [Int128] = {
    var random = SeededGenerator(seed: 128)
    var numbers: [Int128] = [.min, .max, .min + 1, 0]
    for shift in 0..<127 {
        let power = Int128(1) << shift
        numbers += [power - 1, power, 1 - power, -power]
    }
    var power: Int128 = 1
    while power <= Int128.max / 10 {
        numbers += [power, -power, power - 1]
        power *= 10
    }
    for _ in 0..<2000 {
        let number = Int128.random(in: .min ... .max, using: &random)
        numbers.append(number >> Int.random(in: 0..<127, using: &random))
    }
    return numbers
}()

@Suite struct TwoWordNumberTests {
    @available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) @Test func durationsKeepEveryAttosecond() {
        for number in words {
            let duration = Duration(_high: Int64(number >> 64), low: UInt64(truncatingIfNeeded: number))
            let seconds = Decimal(string: "\(number)e-18")
            #expect(duration.storedSeconds == seconds, "\(number)")
            #expect(Duration(storedSeconds: duration.storedSeconds) == duration, "\(number)")
        }
    }

    @Test(arguments: [
        "170141183460469231731.687303715884105728", "-170141183460469231731.687303715884105729", "1e30", "-1e30", "1e100",
        "1e-19",
        "340282366920938463463.374607431768211455", "340282366920938463463.374607431768211456",
        "-340282366920938463463.374607431768211455", "0.1234567890123456789", "NaN",
    ]) func otherDecimalsAreNoDurations(_ text: String) {
        #expect(Duration(storedSeconds: text == "NaN" ? .nan : Decimal(string: text) ?? 0) == nil)
    }

    @available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) @Test func sumsAreExact() throws {
        var random = SeededGenerator(seed: 64)
        let edges: [Value] = [.integer(.min), .integer(.max), .integer(-1), .integer(0), .unsigned(.max), .unsigned(1 << 63)]
        for count in [1, 2, 3, 5, 50] {
            for _ in 0..<400 {
                var total = NumericTotal()
                var whole: Int128 = 0
                for _ in 0..<count {
                    let value = edges.randomElement(using: &random) ?? .integer(0)
                    total.add(value)
                    if case .integer(let number) = value { whole += Int128(number) }
                    if case .unsigned(let number) = value { whole += Int128(number) }
                }
                #expect(total.average == Double(whole) / Double(count), "\(whole)")
                #expect((try? Int64(total: total, entity: "e", field: "f")) == Int64(exactly: whole), "\(whole)")
                #expect((try? UInt64(total: total, entity: "e", field: "f")) == UInt64(exactly: whole), "\(whole)")
                #expect((try? Int8(total: total, entity: "e", field: "f")) == Int8(exactly: whole), "\(whole)")
            }
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) @Test func textsAreChecked() {
        var random = SeededGenerator(seed: 8)
        // Bytes that begin, continue and end sequences of every length, and others.
        let parts: [UInt8] = [
            0x00, 0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xC2, 0xE0, 0xA0, 0xED, 0x9F, 0xEF, 0xBD, 0xF0, 0x90, 0xF4, 0x8F, 0xFF,
        ]
        var valid = 0
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...20, using: &random) / 4).map { _ in parts.randomElement(using: &random) ?? 0 }
            let text = bytes.withUnsafeBytes { String(checking: $0) }
            #expect(text == String(validating: bytes, as: UTF8.self), "\(bytes)")
            valid += text == nil ? 0 : 1
        }
        #expect(valid > 1000 && valid < 19_000)
        let replacement = Array("a\u{FFFD}\u{FEFF}".utf8)
        #expect(replacement.withUnsafeBytes { String(checking: $0) } == "a\u{FFFD}\u{FEFF}")
    }
}
