import DAOCore
import DAOTestSupport
import Foundation
import Testing

@testable import DAOPostgres

@Suite("V1 · Values have a form that PostgreSQL can store")
struct FormTests {
    private func stored(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        Array(text.utf8).withUnsafeBufferPointer { TextEscape.append($0, to: &bytes) }
        return bytes
    }

    @Test func textsKeepTheirOrderAndHaveNoNUL() throws {
        var random = SeededGenerator(seed: 1)
        func text() -> String {
            String(
                (0..<Int.random(in: 0...6, using: &random)).map { _ in
                    ["\0", "\u{1}", "\u{2}", "a", "é"].randomElement(using: &random)!
                }.joined())
        }
        for _ in 0..<20_000 {
            let (left, right) = (text(), text())
            let (first, second) = (stored(left), stored(right))
            #expect(!first.contains(0))
            #expect(first.withUnsafeBufferPointer { TextEscape.text(of: $0) }.map { Array($0.utf8) } == Array(left.utf8))
            #expect(left.utf8.lexicographicallyPrecedes(right.utf8) == first.lexicographicallyPrecedes(second))
        }
    }

    @Test func othersTextsAreReadOrRefused() {
        #expect([1, 3].withUnsafeBufferPointer { TextEscape.text(of: $0) } == nil)
        #expect([97, 1].withUnsafeBufferPointer { TextEscape.text(of: $0) } == nil)
    }

    @Test(arguments: [
        "0", "1", "-1", "9999", "10000", "-10001", "0.5", "0.0001", "0.00001", "-0.00010002", "123456789.987654321", "NaN",
        "18446744073709551615", "100000000", "0.00000000000000000000000000000000000001",
        "340000000000000000000000000000000000000000000000000000000000000",
    ])
    func numbersAreKept(_ text: String) {
        var bytes: [UInt8] = []
        NumericForm.append(text, to: &bytes)
        #expect(bytes.withUnsafeBytes { NumericForm.text(of: $0) } == text)
    }

    @Test func namesFitAndAreDifferent() {
        let dialect = PostgresDialect()
        let long = String(repeating: "é", count: 64)
        #expect(dialect.storedName("book") == "book")
        #expect(dialect.storedName("ctid") == "~ctid")
        #expect(dialect.storedName("pg_class") == "~pg_class")
        #expect(dialect.storedName(long).utf8.count <= 63)
        #expect(dialect.storedName(long) != dialect.storedName(long + "n"))
        for name in ["ctid", long] { #expect(dialect.storedName(dialect.storedName(name)) == dialect.storedName(name)) }
        #expect(dialect.quoted("a\"b") == "\"a\"\"b\"")
    }

    @Test func aURLNamesServersUserAndDatabase() throws {
        let configuration = try DatabaseConfiguration(
            url: "postgres://ada:s%40crifice@one:5433,[::1]/app?schema=main&sslmode=require")
        #expect(configuration.path == "app")
        #expect(
            configuration.options == [
                "host": "one,::1", "port": "5433,", "user": "ada", "password": "s@crifice", "schema": "main",
                "sslmode": "require",
            ])
        #expect(!"\(configuration)".contains("crifice"))
        #expect(!"\(configuration)".contains("ada"))
        #expect(try DatabaseConfiguration(url: "postgres://%2Ftmp%2Fsocket/app").options == ["host": "/tmp/socket"])
        #expect(try DatabaseConfiguration(url: "postgres:app").path == "app")
        for url in ["postgres://one:port/app", "postgres://a%zz@one/app", "postgres://one/app?host=two"] {
            #expect(try storageError { try DatabaseConfiguration(url: url) }.kind == .invalidConfiguration)
        }
    }
}
