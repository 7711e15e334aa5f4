import DAOCore
import DAOTestSupport
import Foundation
import Testing

@Suite("Q5 · Page cursors continue a query exactly")
struct PageCursorTests {
    private func sample(_ id: Int, score: Double? = nil, nick: String? = nil) -> Sample {
        Sample(
            id: id, name: "n\(id % 3)", nick: nick, age: id % 5, level: nil, big: .max, score: score, ratio: nil,
            price: Decimal(id) / 4, isRead: id % 2 == 0,
            flag: nil, date: Date(timeIntervalSinceReferenceDate: Double(id) / 3), token: nil, link: nil,
            bytes: Data([UInt8(id % 7)]), tags: [], like: 0)
    }

    private func cursor(_ record: Sample, _ order: [Sort<Sample>]) throws -> PageCursor {
        PageCursor(after: record, in: try Query<Sample>(orderedBy: order).resolved().order)
    }

    private let orders: [[Sort<Sample>]] = [
        [], [.descending(\.id)], [.ascending(\.score)], [.descending(\.score), .ascending(\.nick)],
        [.ascending(\.nick), .descending(\.score)],
        [.descending(\.date)], [.ascending(\.price), .descending(\.bytes)],
        [.descending(\.big), .ascending(\.isRead), .descending(\.name)],
    ]

    @Test func pagesTogetherContainAllRows() throws {
        let scores: [Double?] = [nil, .nan, .infinity, -.infinity, 0, 1.5]
        let records = (0..<60).map { sample($0, score: scores[$0 % 6], nick: $0 % 4 == 0 ? nil : "é\($0 % 3)") }
        for order in orders {
            let whole = try Query<Sample>(orderedBy: order).resolved().evaluate(over: records).map(\.id)
            for size in [1, 7, 60, 100] {
                var walked: [Int] = []
                var after: PageCursor?
                repeat {
                    let page = try Query<Sample>(orderedBy: order, limit: size, after: after).resolved().evaluate(over: records)
                    walked += page.map(\.id)
                    after = try page.last.map { try cursor($0, order) }
                } while after != nil
                #expect(walked == whole)
            }
        }
    }

    @Test func cursorsRoundTripThroughJSON() throws {
        let record = sample(17, score: .nan, nick: "e\u{301}\0'")
        for order in orders {
            let made = try cursor(record, order)
            let copy = try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode(made))
            #expect(copy == made)
            #expect(
                try Query<Sample>(orderedBy: order, after: copy).resolved().filter
                    == Query<Sample>(orderedBy: order, after: made).resolved().filter)
        }
    }

    @Test func cursorOfAnotherOrderIsRefused() throws {
        let made = try cursor(sample(1, score: 2), [.ascending(\.score)])
        for order: [Sort<Sample>] in [
            [], [.descending(\.score)], [.ascending(\.age)], [.ascending(\.score), .ascending(\.nick)],
        ] {
            let error = try storageError { try Query<Sample>(orderedBy: order, after: made).resolved() }
            #expect(error.kind == .invalidQuery)
            #expect(
                error.message
                    == "the page cursor belongs to a query with another order or of another entity; begin at the first page")
        }
    }

    @Test func damagedCursorsNeverTrap() throws {
        let made = try cursor(sample(1, score: 2, nick: "x"), [.ascending(\.score), .ascending(\.nick)])
        let json = Array(try JSONEncoder().encode(made))
        var random = SeededGenerator(seed: 5)
        for _ in 0..<20_000 {
            var bytes = json
            for _ in 0...Int.random(in: 0...2, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                    Array("0123456789[]{}\",x-".utf8).randomElement(using: &random) ?? 0
            }
            guard let cursor = try? JSONDecoder().decode(PageCursor.self, from: Data(bytes)) else { continue }
            _ = try? Query<Sample>(orderedBy: [.ascending(\.score), .ascending(\.nick)], after: cursor).resolved()
        }
        let swapped = String(decoding: json, as: UTF8.self).replacingOccurrences(of: "[\"double\"", with: "[\"integer\"")
        let damaged = try JSONDecoder().decode(PageCursor.self, from: Data(swapped.utf8))
        let error = try storageError {
            try Query<Sample>(orderedBy: [.ascending(\.score), .ascending(\.nick)], after: damaged).resolved()
        }
        #expect(error.message == "the page cursor is damaged; begin at the first page")
    }

    @Test func negativeLimitsAndOffsetsAreRefused() throws {
        #expect(
            try storageError { try Query<Sample>(limit: -1).resolved() }.message == "the limit is negative: -1; use zero or more")
        #expect(
            try storageError { try Query<Sample>(offset: -3).resolved() }.message
                == "the offset is negative: -3; use zero or more")
        #expect(try Query<Sample>(limit: .max, offset: .max).resolved().evaluate(over: [sample(1)]).isEmpty)
    }
}
