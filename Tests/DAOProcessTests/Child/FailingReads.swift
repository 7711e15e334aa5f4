import DAOChildProcesses
import DAOCore
import DAOFileCalls
import DAOTestSupport
import Foundation

/// `reads <kind> <options>`: opens a database and verifies it, once for each read of its files, while that read fails.
///
/// It answers with `broken` when the error is not that of a failing disk. The last line is `done` with the number of reads.
enum FailingReads {
    static func run(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 2, let kind = Place.Kind(rawValue: words[0]) else {
            throw ChildFailure("a kind of database and its options are missing")
        }
        let place = Place(kind)
        let url = place.url(words[1])
        do {
            let ledger = try Ledger(url)
            // Values of several pages, and free pages.
            let text = String(repeating: "text ", count: 4000)
            try ledger.entries.create((0..<20).map { Entry(id: $0, batch: $0, text: text) })
            try ledger.entries.erase { $0.id >= 10 }
            try ledger.database.close()
        }
        dao_calls_watch(place.directory.path)
        defer { dao_calls_watch(nil) }
        func look(failing number: UInt64) throws -> Bool {
            dao_calls_fail(Int32(DAO_CALLS_READ), number, EIO, 0)
            let ledger = try Ledger(url)
            defer { try? ledger.database.close() }
            let report = try ledger.database.verify()
            guard report.isSound else { throw ChildFailure("\(report)") }
            return dao_calls_count() >= number
        }
        var (number, failures): (UInt64, Int) = (0, 0)
        while true {
            number += 1
            do {
                if try !look(failing: number) { break }
            } catch let error as StorageError where error.kind == .io {
                failures += 1
            } catch {
                answer("broken: read \(number): \(error)".replacing("\n", with: " "))
            }
        }
        answer("done \(number - 1) reads, \(failures) told")
    }
}
