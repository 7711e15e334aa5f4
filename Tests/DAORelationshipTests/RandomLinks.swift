import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// Property-based tests of the links of one relationship. After every step, the links are checked against a
/// reference model of arrays.
final class RandomLinks<Row: KeyedRow> {
    /// The error that rolls back the transaction of a step.
    struct Rollback: Error {}

    private let backend: Backend
    private let place = Place()
    private let relation: RelationDescription
    private var random: SeededGenerator
    private let parents: [Key]
    private let children: [Key]
    private let rows: [Row]
    private var database: any Database
    private var links: any LinkStorage
    private var storage: any Storage<Row>
    /// Keeps a database in memory open while the test reopens it.
    private var keeper: (any Database)?
    /// The reference model.
    private var lists: [Key: [Key]] = [:]

    init(_ backend: Backend, parents kind: ValueKind, seed: UInt64) throws {
        self.backend = backend
        let target = Row.schema.description
        relation = RelationDescription(
            entity: "owner", field: "rows", keyField: "id", keyKind: kind, target: target.name, targetKeyKind: target.keyKind)
        random = SeededGenerator(seed: seed)
        parents = edgeCaseKeys(kind)
        children = edgeCaseKeys(target.keyKind)
        // Some links lead to missing rows.
        rows = try children.enumerated().filter { $0.offset % 4 != 3 }.map { try Row($0.element) }
        database = try backend.open(in: place.directory)
        keeper = backend == .memory ? database : nil
        storage = try database.makeStorage(for: Row.self)
        links = try database.makeLinks(for: relation)
        try storage.insert(rows)
    }

    func run(_ steps: Int) throws {
        for _ in 0..<steps {
            if random.next() % 12 == 0 { try reopen() } else { try step(depth: 0) }
            try compare()
        }
        try database.close()
        try keeper?.close()
    }

    private func reopen() throws {
        if backend == .memory {
            // Closing the last database would release the memory.
            if keeper !== database { try database.close() }
        } else {
            try database.close()
        }
        database = try backend.open(in: place.directory)
        storage = try database.makeStorage(for: Row.self)
        links = try database.makeLinks(for: relation)
    }

    private func some(_ keys: [Key], atMost count: Int) -> [Key] {
        (0..<Int(random.next() % UInt64(count + 1))).compactMap { _ in keys.randomElement(using: &random) }
    }

    private func step(depth: Int) throws {
        switch random.next() % 10 {
        case 0: try removeChildren()
        case 1: try removeParents()
        case 2, 3, 4: if depth < 3 { try transaction(depth: depth + 1) } else { try set() }
        case 5: try change()
        default: try set()
        }
    }

    private func set() throws {
        let owners = some(parents, atMost: 4)
        var linked = LinkedKeys()
        for owner in owners {
            let list = some(children, atMost: 8)
            linked.append(list)
            lists[owner] = list
        }
        try links.set(linked, of: owners)
    }

    /// Changes part of a list, as an application does that appends, inserts or removes children.
    private func change() throws {
        guard let owner = parents.randomElement(using: &random) else { return }
        var list = lists[owner] ?? []
        switch random.next() % 3 {
        case 0: list += some(children, atMost: 3)
        case 1: list.insert(contentsOf: some(children, atMost: 2), at: list.isEmpty ? 0 : Int(random.next() % UInt64(list.count)))
        default: if !list.isEmpty { list.remove(at: Int(random.next() % UInt64(list.count))) }
        }
        lists[owner] = list
        try links.set(LinkedKeys(counts: [list.count], keys: list), of: [owner])
    }

    private func removeChildren() throws {
        let gone = some(children, atMost: 3)
        for (owner, list) in lists { lists[owner] = list.filter { !gone.contains($0) } }
        try links.remove(children: gone)
    }

    private func removeParents() throws {
        let gone = some(parents, atMost: 3)
        for owner in gone { lists[owner] = [] }
        try links.remove(parents: gone)
    }

    /// Runs some steps in a transaction that is committed or rolled back.
    private func transaction(depth: Int) throws {
        let before = lists
        let fails = random.next() % 2 == 0
        do {
            try database.transaction {
                for _ in 0..<(1 + random.next() % 3) {
                    try step(depth: depth)
                    try compare()
                }
                if fails { throw Rollback() }
            }
        } catch is Rollback {
            lists = before
        }
    }

    private func compare() throws {
        let asked = some(parents, atMost: 5) + parents
        let found = try links.children(of: asked)
        #expect(found.lists.map(Array.init) == asked.map { lists[$0] ?? [] })
        let counts = lists.filter { !$0.value.isEmpty }.map { (parent: $0.key, count: $0.value.count) }
            .sorted { $0.parent < $1.parent }
        let foundCounts = try links.counts()
        #expect(foundCounts.map(\.parent) == counts.map(\.parent))
        #expect(foundCounts.map(\.count) == counts.map(\.count))
        for wanted in [some(children, atMost: 3), children] {
            let owners = lists.filter { !Set($0.value).isDisjoint(with: wanted) }.keys.sorted()
            #expect(try links.parents(of: wanted) == owners)
            #expect(try links.linked(among: wanted) == Set(wanted).intersection(lists.values.joined()))
        }
        try compareRows(asked)
    }

    private func compareRows(_ asked: [Key]) throws {
        let there = Set(rows.map { Row.schema.key(of: $0) })
        var found: [Int: [Row]] = [:]
        var last = -1
        try links.forEachList(of: asked, in: storage) { index, rows in
            #expect(index > last)
            last = index
            found[index] = rows
        }
        for (index, owner) in asked.enumerated() {
            #expect(try found[index] ?? [] == (lists[owner] ?? []).filter(there.contains).map { try Row($0) })
        }
    }
}

@Suite struct RandomLinkTests {
    static let kinds: [ValueKind] = [.int64, .uint64, .string, .uuid]

    @Test(arguments: Backend.allCases, kinds)
    func linksMatchTheReferenceModel(_ backend: Backend, _ kind: ValueKind) throws {
        for seed in 1...4 as ClosedRange<UInt64> {
            try RandomLinks<IntegerRow>(backend, parents: kind, seed: seed).run(60)
            try RandomLinks<UnsignedRow>(backend, parents: kind, seed: seed).run(60)
            try RandomLinks<StringRow>(backend, parents: kind, seed: seed).run(60)
            try RandomLinks<UUIDRow>(backend, parents: kind, seed: seed).run(60)
        }
    }
}
