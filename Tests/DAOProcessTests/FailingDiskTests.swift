import DAOChildProcesses
import DAOTestSupport
import Foundation
import Testing

/// Contract L4: the operating system fails during a commit.
@Suite(.timeLimit(.minutes(30))) struct FailingDiskTests {
    /// Commits in a child while a call fails. Then one child is killed, and another closes and opens the database.
    private func expect(_ kind: Place.Kind, _ call: String, _ outcome: String, _ durability: String = "full") throws {
        for isKilled in [true, false] {
            let place = Place(kind)
            let child = try Child("fail", place.url("durability=\(durability)"), call)
            for what in ["commit", "write", "read"] { try child.expect("\(what): \(outcome)") }
            if isKilled {
                child.kill()
                let ledger = try Ledger(place.url())
                #expect(try ledger.count() == 1)
                try ledger.increment()
                #expect(try ledger.count() == 2)
            } else {
                try child.say("close")
                try child.expect("1")
                try child.expect("2")
            }
        }
    }

    @Test func commitWhoseSyncFailsOnSQLiteIsUnknown() async throws {
        try await onThread { try expect(.sqlite, "sync", "outcomeUnknown") }
    }

    /// LMDB writes the meta page after the sync.
    @Test(arguments: ["full", "relaxed"]) func commitWhoseSyncFailsOnLMDBIsNotStored(_ durability: String) async throws {
        try await onThread { try expect(.lmdb, "sync", "io", durability) }
    }

    @Test func commitWhoseMetaPageFailsIsUnknown() async throws {
        try await onThread { try expect(.lmdb, "meta", "outcomeUnknown") }
    }
}
