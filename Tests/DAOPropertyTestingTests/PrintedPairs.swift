// swift-format-ignore-file
import DAOConformance
import DAOCore
import DAOPropertyTesting
import Foundation
import Testing

// Printed by PropertyTesting.run(on: target, seed: 45, operations: 250),
// where target is sqlite.
@Test func seed45() throws {
    try PropertyTesting.replay(
        [
            .holders([1, 2, 3], by: .first),
            .typed(by: .first),
            .openAtOnce(.loose),
            .badges([.init(1, holder: 1, rank: 5), .init(2, holder: nil, rank: nil), .init(3, holder: 1, rank: 7)], by: .first),
            .open(.cascading, by: .second),
            .eraseHolder(2, by: .second, .untyped),
            .update(rank: 9, holder: nil, erasing: .holder(1), by: .second),
            .typed(by: .second),
            .transaction([.holders([2], by: .first), .merge(1, rank: 4, erasing: .badge(1), by: .first), .badges([.init(1, holder: 9, rank: 1)], by: .first)], fails: true, by: .second),
            .observed([.evolve(.rename(toMedals: true), by: .second), .evolve(.retype(ofMedals: true), by: .first), .open(.restricted, by: .first)], inside: [.holders([1, 2], by: .first)], fails: false, by: .second),
            .badges([.init(1, holder: 2, rank: 5)], by: .first),
            .eraseHolder(2, by: .second, .byKey),
            .eraseHolder(1, by: .second, .byCondition),
            .update(rank: 1, holder: nil, erasing: .badge(1), by: .first),
            .reopen,
            .open(.marked, by: .first),
            .badges([.init(4, holder: 3, rank: 4), .init(5, holder: nil, rank: nil)], by: .first),
            .typed(by: .first),
            .evolve(.dropHolder(ofMedals: false), by: .first),
            .typed(by: .first),
            .eraseBadge(4, by: .second),
            .evolve(.dropEntity(ofMedals: false), by: .second),
            .eraseHolder(2, by: .first, .byKey),
            .eraseHolder(3, by: .first, .byKey),
            .copyIn(.cascading, holders: [1, 3], badges: [.init(1, holder: 3, rank: 2), .init(2, holder: nil, rank: 2)]),
            .eraseHolder(3, by: .second, .untyped),
            .seats([.init(1, row: 1, isLeft: false, crew: 1), .init(2, row: 1, isLeft: true, crew: 2), .init(3, row: 2, isLeft: false, crew: 1)], by: .first),
            .setLeft(false, row: 1, by: .second),
            .setLeft(true, row: 1, by: .second),
            .seats([.init(4, row: 2, isLeft: false, crew: 0)], by: .first),
            .crews(1, 2),
            .groups(first: 1),
            .groupsBesideAWriter(first: 2),
            .compact,
            .compactBeside([.crews(3, 0), .holders([7], by: .first)]),
        ], on: target)
}
