import DAOCore
import Testing

/// The different values of an indexed field cost what they are, however many rows there are.
@Suite struct DistinctPlanTests {
    private struct Letter: Plain, Model {
        var id: Int
        var sender: Int
        var folder: String
        var text: String

        static let schema = Schema(
            "letter", Self.init, Field("id", \.id, .primaryKey), Field("sender", \.sender, .indexed), Field("folder", \.folder),
            Field("text", \.text), indexes: [Index(\.folder, \.sender)])
    }

    @Test(arguments: ["memory", "lmdb", "sqlite"]) func distinctLooksAtOneRowOfEachValue(_ scheme: String) throws {
        let counted = try CountedDatabase(scheme)
        try counted.database.storage(for: Letter.self).insert(
            (0..<20_000).map { Letter(id: $0, sender: $0 % 20, folder: "folder \($0 % 5)", text: "text \($0)") })
        try counted.reopen()
        let letters = DAO(storage: try counted.database.storage(for: Letter.self))
        /// Runs a call, and returns what it has looked at.
        func work<Result: Equatable>(_ expected: Result, _ call: () throws -> Result) throws -> Int {
            let (found, work) = try counted.work(call)
            #expect(found == expected)
            return work
        }
        let senders = try work(Array(0..<20)) { try letters.distinct(\.sender) }
        let pairs = try work(20) { try letters.distinct(\.folder, \.sender).count }
        let some = try work([3, 8, 13, 18]) { try letters.distinct(\.sender) { $0.folder == "folder 3" } }
        #expect(max(senders, pairs, some) < 1_000, "\(senders), \(pairs), \(some)")
        // Counting looks at the entries, and no index has the text: SQLite looks at rows of a sender until one has it.
        let counts = try work(true) { try letters.groups(by: \.sender, totals: .count).allSatisfy { $1 == 1_000 } }
        let texts = try work(20) { try letters.distinct(\.sender) { $0.text > "text 7" }.count }
        #expect(counts >= 20_000 && texts >= (scheme == "sqlite" ? 20 : 2_000), "\(counts), \(texts)")
    }
}
