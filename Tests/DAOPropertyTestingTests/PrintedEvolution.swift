// swift-format-ignore-file
import DAOConformance
import DAOCore
import DAOPropertyTesting
import Foundation
import Testing

// Printed by PropertyTesting.run(on: target, seed: 43, operations: 250),
// where target is sqlite.
@Test func seed43() throws {
    try PropertyTesting.replay(
        [
            .open(.init("select", [.init("id", .ticket, isKey: true), .init("mood", .string), .init("gr\u{f6}\u{df}e", .int16, isIndexed: true), .init("tags", .optionalStrings, isOptional: true)], kept: [1]), reopens: false),
            .persist([[.integer(1), .string("calm"), .integer(5), .string("[\"null\",null,\"\",null]")], [.integer(2), .string("other"), .integer(-5), .null]]),
            .part(["mood", "id"], [[.string("calm"), .integer(1)]]),
            .part(["id"], [[.integer(9)]]),
            .erase([.integer(7), .integer(8)]),
            .open(.init("select", [.init("id", .ticket, isKey: true), .init("mood", .mood), .init("size", .int16, isIndexed: true, earlierNames: ["gr\u{f6}\u{df}e", "neverStored"]), .init("tags", .optionalStrings, isOptional: true), .init("price", .decimal, defaultValue: .decimal(Decimal(string: "2.5")!)), .init("when", .date, isOptional: true, isUnique: true)], kept: [1]), reopens: true),
            .copy(rowsAtOnce: 1, interruptedAfter: 1),
            .evolve(version: 3, [.init(to: 2, [.changeType(of: "size", in: "select", from: .int16, to: .string), .renameField("mood", of: "select", to: "title"), .addField(.init("extra", .string, defaultValue: .string("a\"b")), to: "select"), .dropField("tags", of: "select"), .setIndex(on: "title", of: "select", isIndexed: true, isUnique: false)]), .init(to: 3, [.changeKey(of: "select", to: "size"), .dropEntity("select"), .fail])], model: nil),
            .evolve(version: 3, [.init(to: 2, [.set("price", of: "select", to: .decimal(Decimal(string: "0")!)), .erase(every: 2, of: "select")]), .init(to: 3, [.renameEntity("select", to: "order"), .renameField("mood", of: "order", to: "title")])], model: .init("order", [.init("id", .ticket, isKey: true), .init("title", .string)], dropped: ["size", "tags", "price", "when"])),
            .evolve(version: 2, [], model: nil),
            .copy(rowsAtOnce: 100, interruptedAfter: nil),
        ], on: target)
}
