import DAOChildProcesses
import DAOCore
import DAOTestSupport
import Testing

/// Contract T9: asynchronous writes of many tasks on a slow disk.
@Suite(.serialized, .timeLimit(.minutes(30))) struct SharedCommitLatencyTests {
    @Test(arguments: Place.Kind.allCases) func manyTasksShareTheSyncs(_ kind: Place.Kind) async throws {
        try await onThread {
            func calls(_ tasks: Int) throws -> Int {
                let place = Place(kind)
                let child = try Child("tasks", place.url(), "\(tasks)", "500")
                return try #require(try child.line(within: 60).flatMap { Int($0) })
            }
            let (one, many) = (try calls(1), try calls(64))
            print("\(kind): \(2 * one) calls a second of one task, \(2 * many) of 64, with syncs of 5 ms")
            #expect(many >= 20 * one, "\(one) and \(many) calls")
        }
    }
}

/// Contract T9: asynchronous writes of many tasks on a disk that fails.
@Suite(.serialized, .timeLimit(.minutes(30))) struct SharedCommitTests {
    @Test(arguments: Place.Kind.allCases) func failedSyncIsTheErrorOfAllCalls(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let kinds = try #require(try Child("failing-tasks", place.url()).line(within: 60))
            // Where calls cannot be watched, all succeed.
            #expect(["outcomeUnknown", "io", "none"].contains(kinds), "\(kinds)")
            _ = try Ledger(place.url()).tallies.read()
        }
    }

    /// One call that does not fit refuses none of the small ones beside it.
    @Test(arguments: Place.Kind.allCases) func callsThatDoNotFitRefuseNoOthers(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let wrong = try #require(try Child("full-tasks", place.url()).line(within: 60))
            #expect(wrong == "0 0", "the small rows that were refused, and the long ones that were not")
            let ledger = try Ledger(place.url())
            #expect(try ledger.tallies.read().map(\.id) == (0..<200).filter { $0 % 40 != 20 })
            #expect(try ledger.entries.count() == 0)
        }
    }
}
