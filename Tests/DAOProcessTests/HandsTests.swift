import DAOChildProcesses
import DAOConformance
import DAOCore
import DAOTestSupport
import Foundation
import Testing

/// Contract L8: an open SQLite file in the hands of other code of the process, and of other programs.
///
/// A process that opens and closes the file by itself loses all of SQLite's locks on it (POSIX, `fcntl`). The next
/// process that closes the file believes to be the last.
@Suite(.serialized, .timeLimit(.minutes(30))) struct HandsTests {
    private let place = Place(.sqlite)

    /// Opens the database, commits twice, and gives up SQLite's locks.
    private func withoutLocks() throws -> Ledger {
        let ledger = try Ledger(place.url())
        for _ in 1...2 { try ledger.increment() }
        #expect(try Data(contentsOf: place.file).isEmpty == false)
        return ledger
    }

    @Test func processWithoutLocksLosesNoCommit() async throws {
        try await onThread {
            let ledger = try withoutLocks()
            // It reads, and closes the file.
            let reader = try Child("serve", place.url())
            try reader.expect("open")
            #expect(try reader.ask("count") == "2")
            try reader.say("close")
            reader.wait()
            try ledger.increment()
            let writer = try Child("reopen", place.url(), "5")
            try writer.expect("done")
            writer.wait()
            #expect(try ledger.count() == 8)
            try ledger.increment()
            try ledger.database.close()
            #expect(try Ledger(place.url()).count() == 9)
        }
    }

    @Test func logThatAnotherProgramRemovesIsDetached() async throws {
        try await onThread {
            let ledger = try withoutLocks()
            try runPython("rows = db.execute('SELECT count(*) FROM tally').fetchall(); assert rows == [(1,)], rows")
            try #require(!FileManager.default.fileExists(atPath: place.file.path + "-wal"), "Python has kept the log")
            let error = #expect(throws: StorageError.self) { try ledger.increment() }
            #expect(error?.kind == .detached && error?.message.contains("test.db-wal") == true, "\(String(describing: error))")
            // Another program commits; closing must not write older pages over it.
            try runPython("db.execute('UPDATE tally SET value = 40'); db.commit()")
            try ledger.database.close()
            let again = try Ledger(place.url())
            #expect(try again.count() == 40)
            try again.increment()
            #expect(try again.count() == 41)
        }
    }

    @Test func closingKeepsTheLogOnlyForOthers() async throws {
        try await onThread {
            let ledger = try Ledger(place.url())
            try ledger.increment()
            let other = try Child("serve", place.url())
            try other.expect("open")
            try ledger.database.close()
            let log = try FileManager.default.attributesOfItem(atPath: place.file.path + "-wal")
            #expect(log[.size] as? Int == 0)
            let copy = place.directory.appendingPathComponent("copy.db")
            try FileManager.default.copyItem(at: place.file, to: copy)
            #expect(try Ledger("sqlite://\(copy.path)").count() == 1)
            try other.say("close")
            other.wait()
            let names = try FileManager.default.contentsOfDirectory(atPath: place.directory.path)
            #expect(names.filter { $0.hasPrefix("test.db") } == ["test.db"])
        }
    }

    /// Opens a file that counts 20, here and in another process, and replaces it by one that counts 1,000.
    ///
    /// - Parameter old: The path that the file is moved to; nil when it is gone.
    private func replacedWhileOpen(_ place: Place, movingItTo old: String? = nil) throws -> (Ledger, Child) {
        let other = try Ledger(place.url(file: "other"))
        try other.increment(by: 1000)
        try other.database.close()
        let ledger = try Ledger(place.url())
        for _ in 1...20 { try ledger.increment() }
        let witness = try Child("serve", place.url())
        try witness.expect("open")
        if let old { #expect(rename(place.file.path, old) == 0) }
        #expect(rename(place.directory.appendingPathComponent("other").path, place.file.path) == 0)
        return (ledger, witness)
    }

    /// Processes that have the file open have not noticed yet that another one is at the path.
    @Test func openerOfAReplacedLMDBFileIsAlone() async throws {
        try await onThread {
            let place = Place(.lmdb)
            let (ledger, witness) = try replacedWhileOpen(place)

            let writer = try Child("reopen", place.url(), "5")
            try writer.expect("done")
            writer.wait()
            // In the process that has the old file open.
            let new = try Ledger(place.url())
            for _ in 1...5 { try new.increment() }
            #expect(try new.count() == 1010)
            #expect(try ledger.count() == 20)
            #expect(throws: StorageError.self) { try ledger.increment() }.map { #expect($0.kind == .detached) }
            try ledger.database.close()
            #expect(try witness.ask("count") == "20")
            try witness.say("close")
            witness.wait()
            try new.increment()
            try new.database.close()
            let again = try Ledger(place.url())
            #expect(try again.count() == 1011)
            #expect(try again.database.verify().problems.isEmpty)
        }
    }

    /// The log beside the new file is that of the old one, and has its commits.
    @Test func openerOfAReplacedSQLiteFileIsBusy() async throws {
        try await onThread {
            let old = place.directory.appendingPathComponent("old").path
            let (ledger, witness) = try replacedWhileOpen(place, movingItTo: old)

            func isBusy() throws {
                for url in [place.url(), "\(place.url())?readOnly=true"] {
                    #expect(throws: StorageError.self) { _ = try Ledger(url) }.map { #expect($0.kind == .busy, "\($0)") }
                }
            }
            // In a process that has the old file open, and in another.
            try isBusy()
            #expect(try ledger.count() == 20)
            #expect(throws: StorageError.self) { try ledger.increment() }.map { #expect($0.kind == .detached) }
            // Every reader that is needed now would find the new file.
            #expect(throws: StorageError.self) {
                try ledger.database.snapshot {
                    _ = try ledger.count()
                    try Background { _ = try ledger.count() }.wait()
                }
            }.map { #expect($0.kind == .detached) }
            try ledger.database.close()
            try isBusy()
            #expect(try witness.ask("count") == "20")
            try witness.say("close")
            witness.wait()

            let new = try Ledger(place.url())
            #expect(try new.count() == 1000)
            try new.increment()
            #expect(try new.database.verify().problems.isEmpty)
            try new.database.close()
            #expect(try Ledger("sqlite://\(old)").count() == 20)
        }
    }

    /// Runs statements of Python's SQLite on the file.
    private func runPython(_ body: String) throws {
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = [
            "python3", "-c", "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \(body); db.close()", place.file.path,
        ]
        try python.run()
        python.waitUntilExit()
        #expect(python.terminationStatus == 0)
    }
}
