import DAOChildProcesses
import DAOCore
import Foundation

/// `probe`: runs all operations on databases that may be damaged. Each line contains the URL of a database.
///
/// Typed errors are expected. The end of this process is a failure, and so is a missing answer.
enum Probing {
    static func run() {
        answer("ready")
        while let url = readLine() {
            do {
                let ledger = try Ledger(url)
                let failures = steps(ledger).compactMap { step -> String? in
                    do {
                        try step()
                        return nil
                    } catch {
                        return name(error)
                    }
                }
                answer(failures.first ?? "fine")
                try? ledger.database.close()
            } catch {
                answer("open-\(name(error))")
            }
        }
    }

    /// A row was read that was never stored.
    private struct WrongValue: Error {}

    private static func name(_ error: any Error) -> String {
        if error is WrongValue { return "wrong value" }
        guard let error = error as? StorageError else { return "untyped \(error)".replacing("\n", with: " ") }
        return error.kind.rawValue
    }

    /// Operations that read everything in several orders, then write everywhere.
    private static func steps(_ ledger: Ledger) -> [() throws -> Void] {
        let (entries, database) = (ledger.entries, ledger.database)
        return [
            { _ = try database.entities() },
            {
                let rows = try entries.read()
                if database.capabilities.hasChecksums, !rows.allSatisfy(Batches.isKnown) { throw WrongValue() }
            },
            { _ = try entries.read(orderedBy: .descending(\.batch)) },
            { _ = try entries.read { $0.batch > 10 && $0.text.contains("1") } },
            { for id in 0..<200 { _ = try entries.read(byPrimaryKey: id) } },
            { _ = try entries.count() },
            { _ = try Batches.commitNext(ledger) },
            { try entries.persist((0..<200).map { Entry(id: $0 * 7, batch: $0, text: String(repeating: "y", count: $0 * 50)) }) },
            { _ = try entries.update(where: { $0.batch > 3 }) { $0.batch += 1 } },
            { _ = try entries.erase { $0.batch > 5 } },
            { _ = try entries.erase() },
            { for _ in 0..<3 { _ = try Batches.commitNext(ledger) } },
        ]
    }
}
