import DAOCore
import Foundation
import Testing

@testable import Reminders

@Suite struct ChangeTests {
    @Test(arguments: Kind.available) func saving(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            var milk = sample.milk
            (milk.title, milk.tags) = ("Oat milk", [sample.blue, sample.old])
            try app.save(milk)
            #expect(try app.tags(of: milk.id).map(\.title) == ["Blue", "old"])
            #expect(try app.tagsInUse().map(\.title) == ["Blue", "old", "red"])

            var home = sample.home
            home.title = "House"
            home.cover?.image = Data([9])
            try app.save(home)
            #expect(try app.list(home.id) == home)
            home.cover = nil
            try app.save(home)
            #expect(try app.cover(of: home.id) == nil)
        }
    }

    @Test(arguments: Kind.available) func positionsFollow(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            #expect([sample.home, sample.work, sample.empty].map(\.position) == [0, 1, 2])
            #expect([sample.milk, sample.bread, sample.rent, sample.report, sample.call].map(\.position) == [0, 1, 2, 0, 1])
            // As from two processes: no two of them get the same position.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10 {
                    group.addTask { _ = try app.add(Reminder(title: "\(number)", list: sample.empty.id)) }
                }
                try await group.waitForAll()
            }
            #expect(try app.reminders(.list(sample.empty.id), by: .position).map(\.position) == Array(0..<10))
        }
    }

    @Test(arguments: Kind.available) func tagsAreOneInAnyCase(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            #expect(try app.tag("RED") == sample.red)
            #expect(try app.tag("green").title == "green")
            try app.rename(sample.red.id, to: "Red")
            #expect(try app.tag("red").title == "Red")
            try app.rename(sample.red.id, to: "Crimson")
            #expect(try app.tag("crimson").id == sample.red.id)
            #expect { try app.rename(sample.red.id, to: "BLUE") } throws: { ($0 as? StorageError)?.kind == .uniqueViolation }
            #expect(try app.tag("crimson").title == "Crimson")
        }
    }

    @Test(arguments: Kind.available) func reordering(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            try app.reorderLists([sample.empty.id, sample.home.id, sample.work.id])
            #expect(try app.allLists().map(\.title) == ["Empty", "Home", "Work"])
            try app.reorder([sample.rent.id, sample.milk.id, sample.bread.id])
            #expect(try app.reminders(.list(sample.home.id), by: .position).map(\.title) == ["Rent", "Milk", "bread"])
        }
    }

    @Test(arguments: Kind.available) func togglesAndMoves(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            try app.toggleFlag(sample.milk.id)
            #expect(try app.reminders(.flagged, by: .title).map(\.title) == ["Milk", "Rent", "Report"])
            try app.toggleStatus(sample.milk.id)
            try app.toggleStatus(sample.bread.id)
            try app.toggleStatus(sample.bread.id)
            try app.finishCompleting(at: Sample.noon)
            #expect(try app.reminders(.completed, by: .title).map(\.completedAt) == [Sample.noon])
            try app.move(sample.call.id, to: sample.empty.id)
            #expect(try app.listRows().map(\.open) == [2, 1, 1])
            try app.moveAll(from: sample.home.id, to: sample.empty.id)
            #expect(try app.listRows().map(\.open) == [0, 1, 3])
        }
    }

    @Test(arguments: Kind.available) func trash(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            try app.trash([sample.milk.id, sample.report.id], at: Sample.noon)
            #expect(try app.reminders(.all, by: .title).map(\.title) == ["bread", "call Ada", "Rent"])
            #expect(try app.numbers(today: Sample.today) == Numbers(open: 3, flagged: 1, scheduled: 2, dueToday: 0))
            #expect(try app.listRows().map(\.open) == [2, 1, 0])
            #expect(try app.due(Sample.today).isEmpty)
            try app.restore([sample.report.id])
            #expect(try app.reminders(.flagged, by: .title).map(\.title) == ["Rent", "Report"])
            #expect(try app.emptyTrash(before: Sample.noon) == 0)
            #expect(try app.emptyTrash(before: Sample.noon.addingTimeInterval(1)) == 1)
            #expect(try app.all.count() == 4)
        }
    }

    @Test(arguments: Kind.available) func erasingCompleted(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            for reminder in [sample.bread, sample.milk, sample.report] { try app.toggleStatus(reminder.id) }
            try app.finishCompleting(at: Sample.noon)
            #expect(try app.eraseCompleted(containing: "RYE", before: Sample.noon) == 0)
            #expect(try app.eraseCompleted(containing: "RYE", before: Sample.noon.addingTimeInterval(1)) == 1)
            #expect(try app.reminders(.completed, by: .title).map(\.title) == ["Milk", "Report"])
        }
    }

    @Test(arguments: Kind.available) func lists(_ kind: Kind) async throws {
        try await kind.withApp { app in
            let sample = try Sample(app)
            try app.trashList(sample.home.id, at: Sample.noon)
            #expect(try app.allLists().map(\.title) == ["Work", "Empty"])
            #expect(try app.reminders(.all, by: .title).map(\.title) == ["call Ada", "Report"])
            #expect(try app.tagsInUse().map(\.title) == ["Blue"])
            try app.restoreList(sample.home.id)
            #expect(try app.reminders(.all, by: .title).count == 5)
            for list in [sample.home, sample.work, sample.empty] { try app.trashList(list.id, at: Sample.noon) }
            let list = try app.anyList()
            #expect(list.title == "Reminders")
            #expect(try app.anyList() == list)
            #expect(try app.eraseLists(before: Sample.noon.addingTimeInterval(1)) == 3)
            #expect(try app.all.count() == 0 && app.tags.count() == 3)
            #expect(try DAO(storage: app.database.storage(for: Cover.self)).count() == 0)
        }
    }
}
