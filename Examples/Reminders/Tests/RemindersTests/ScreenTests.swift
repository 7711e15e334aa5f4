import DAOCore
import Foundation
import Testing

@testable import Reminders

@Suite struct ScreenTests {
    @Test(arguments: Kind.available) func firstScreen(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            #expect(try app.allLists().map(\.title) == ["Home", "Work", "Empty"])
            #expect(try app.listRows().map { "\($0.list.title) \($0.open)" } == ["Home 3", "Work 2", "Empty 0"])
            #expect(try app.numbers(today: Sample.today) == Numbers(open: 5, flagged: 2, scheduled: 4, dueToday: 2))
            #expect(try app.tagsInUse().map(\.title) == ["Blue", "red"])
            let (top, others) = try app.topTags()
            #expect(top.map { "\($0.tag.title) \($0.count)" } == ["Blue 2", "red 2", "old 0"])
            #expect(others.isEmpty)
            for number in 1...7 {
                _ = try app.save(Reminder(title: "\(number)", list: sample.work.id, tags: [app.tag("t\(number)")]))
            }
            #expect(try app.topTags().top.map(\.count) == [2, 2, 1, 1, 1])
            #expect(try app.topTags().others.map(\.title) == ["old", "t4", "t5", "t6", "t7"])
        }
    }

    @Test(arguments: Kind.available) func firstScreenIsObserved(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            var seen: [Int] = []
            for try await screen in app.firstScreen(today: Sample.today) {
                seen.append(screen.numbers.open)
                if seen.count == 1 { #expect(screen.lists.map(\.open) == [3, 2, 0] && screen.tags.count == 2) }
                if seen.count == 2 { break }
                try app.toggleStatus(sample.milk.id)
            }
            #expect(seen == [5, 4])
        }
    }

    @MainActor @Test(arguments: Kind.available) func firstFrameHasRows(_ kind: Kind) async throws {
        try await kind.withApp { app in
            _ = try Sample(app)
            let list = ObservedList(
                app.shown, orderedBy: .ascending(\.list, \.position), .ascending(\.position), immediately: true
            ) {
                $0.status == .incomplete
            }
            #expect(!list.isLoading && list.revision == 1)
            #expect(
                list.sections(by: \.list).map { $0.elements.map(\.title) } == [
                    ["Milk", "bread", "Rent"], ["Report", "call Ada"],
                ])
            let numbers = ObservedValue(
                app.database.observe { try app.numbers(today: Sample.today) },
                initially: Numbers(open: 0, flagged: 0, scheduled: 0, dueToday: 0), immediately: true)
            #expect(numbers.value.open == 5)
        }
    }

    @Test(arguments: Kind.available) func filters(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            try app.toggleStatus(sample.call.id)
            try app.finishCompleting(at: Sample.noon)
            func titles(_ filter: ReminderFilter) throws -> [String] { try app.reminders(filter, by: .title).map(\.title) }
            #expect(try titles(.list(sample.home.id)) == ["bread", "Milk", "Rent"])
            #expect(try titles(.all) == ["bread", "Milk", "Rent", "Report", "call Ada"])
            #expect(try titles(.completed) == ["call Ada"])
            #expect(try titles(.flagged) == ["Rent", "Report"])
            #expect(try titles(.scheduled) == ["Milk", "Rent", "Report", "call Ada"])
            #expect(try titles(.due(Sample.today)) == ["Milk", "Report"])
            #expect(try titles(.tagged([sample.red.id])) == ["bread", "Milk"])
            #expect(try titles(.tagged([sample.red.id, sample.blue.id])) == ["bread", "Milk", "Report"])
            #expect(try app.reminders(.all, by: .title, showsCompleted: false).count == 4)
            #expect(try app.reminders(.all, by: .title, minimum: .medium).map(\.title) == ["Rent", "call Ada"])
            let bread = try app.reminders(.list(sample.home.id), by: .title)[0]
            #expect(bread.tags?.map(\.title) == ["red", "Blue"])
        }
    }

    @Test(arguments: Kind.available) func ordersAndPages(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            try app.toggleStatus(sample.call.id)
            try app.finishCompleting(at: Sample.noon)
            func titles(_ ordering: Ordering) throws -> [String] { try app.reminders(.all, by: ordering).map(\.title) }
            #expect(try titles(.dueDate) == ["Milk", "Report", "Rent", "bread", "call Ada"])
            #expect(try titles(.priority).first == "Rent" && titles(.priority).last == "call Ada")
            #expect(try titles(.priority)[1] == "bread")
            #expect(try titles(.title) == ["bread", "Milk", "Rent", "Report", "call Ada"])
            #expect(try app.reminders(.list(sample.home.id), by: .position).map(\.title) == ["Milk", "bread", "Rent"])
            for number in 0..<120 {
                let date = number % 3 == 0 ? nil : Sample.noon.addingTimeInterval(Double(number % 7) * Sample.day)
                try app.save(Reminder(title: "n\(number % 10)", list: sample.work.id, dueDate: date))
            }
            for ordering in Ordering.allCases {
                var (read, page) = ([UUID](), try app.page(.all, by: ordering))
                #expect(page.total == 125 && page.elements.count == 50)
                read += page.elements.map(\.id)
                while let next = page.next {
                    page = try app.page(.all, by: ordering, after: next)
                    read += page.elements.map(\.id)
                }
                #expect(try read == app.reminders(.all, by: ordering).map(\.id), "by \(ordering)")
            }
        }
    }

    @Test(arguments: Kind.available) func details(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            #expect(try app.cover(of: sample.home.id) == Data([1, 2, 3]))
            #expect(try app.cover(of: sample.work.id) == nil)
            #expect(try app.list(sample.home.id)?.cover?.image == Data([1, 2, 3]))
            let widget = try app.widget(from: Sample.today.lowerBound, limit: 2)
            #expect(widget.map(\.title) == ["Milk", "Report"] && widget.map(\.list) == ["Home", "Work"])
            #expect(widget.map(\.color) == [1, 2])
            #expect(try app.suggestedTags("B", without: []).map(\.title) == ["Blue"])
            #expect(try app.suggestedTags("", without: [sample.blue.id]).map(\.title) == ["old", "red"])
            #expect(try app.tags(of: sample.bread.id).map(\.title) == ["Blue", "red"])
        }
    }

    @Test(arguments: Kind.available) func groups(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            for number in 0..<4 {
                let date = Sample.noon.addingTimeInterval(Double(number + 1))
                try app.save(Reminder(title: "\(number)", list: sample.home.id, dueDate: date))
            }
            let due = Dictionary(uniqueKeysWithValues: try app.due(Sample.today).map { ($0.list, $0.first.map(\.title)) })
            #expect(due == [Reference(sample.home): ["Milk", "0", "1"], Reference(sample.work): ["Report"]])
            try app.toggleStatus(sample.milk.id)
            try app.toggleStatus(sample.report.id)
            try app.finishCompleting(at: Sample.noon)
            try app.toggleStatus(sample.rent.id)
            let counts = try app.counts().map {
                "\($0.list == Reference(sample.home) ? "home" : "work") \($0.status) \($0.count)"
            }
            #expect(
                Set(counts) == [
                    "home incomplete 5", "home completing 1", "home completed 1", "work incomplete 1", "work completed 1",
                ])
            try app.toggleStatus(sample.call.id)
            try app.finishCompleting(at: Sample.noon.addingTimeInterval(Sample.day))
            let days = try app.completed(since: Sample.today.lowerBound, in: .gmt)
            #expect(days.map(\.count) == [2, 2])
            #expect(days.map(\.day) == [Sample.today.lowerBound, Sample.today.upperBound])
        }
    }
}
