import DAOChildProcesses
import DAOCore
import DAOTestSupport
import Foundation

/// What the files of a database have after a power cut, or after faults, in the middle of ``Work``.
struct Promises {
    private let kind: Place.Kind
    private let isFull: Bool
    private let history: Work.History

    init(_ kind: Place.Kind, _ durability: String, _ history: Work.History) {
        (self.kind, self.history) = (kind, history)
        isFull = durability == "full"
    }

    /// Opens the files of a directory, and throws when they break a promise. Then it commits.
    ///
    /// - Returns: What became of the steps that had ended, in a word.
    func check(_ place: Place) throws -> String {
        try checkBackup(place)
        try checkCopy(place)
        let ledger = try Ledger(place.url())
        defer { try? ledger.database.close() }
        let folders = try DAO<Folder>(storage: ledger.database.storage(for: Folder.self))
        let count = try ledger.count()
        guard acceptedCounts.contains(count) else {
            throw ChildFailure("\(count) transactions are there, \(acceptedCounts) were promised")
        }
        try check(ledger, folders)
        try checkLabels(ledger.database)
        try Work.commit(ledger, folders)
        guard try ledger.count() == count + 1 else { throw ChildFailure("a commit is not there") }
        try check(ledger, folders)
        try ledger.database.close()
        return count == history.commit ? "all acknowledged" : count > history.commit ? "one more" : "last ones lost"
    }

    /// The numbers of transactions that may be there.
    private var acceptedCounts: ClosedRange<Int> {
        // A relaxed commit may be lost with all that follow it; LMDB loses only the last.
        let first = isFull ? history.commit : kind == .lmdb ? max(0, history.commit - 1) : 0
        return first...history.begun
    }

    private func check(_ ledger: Ledger, _ folders: DAO<Folder>) throws {
        guard try ledger.isWhole() else { throw ChildFailure("a transaction is there in part") }
        let count = try ledger.count()
        guard try folders.read() == Folder.expected(after: count) else {
            throw ChildFailure("the lists are not those of \(count) transactions")
        }
        let report = try ledger.database.verify()
        guard report.isSound else { throw ChildFailure("\(report)") }
        let unseen = try Work.unseen(ledger.database)
        guard Set(unseen.map(\.transaction)).count == min(count, 1),
            count == 0 || unseen.contains(where: { $0.entity == "folder" && $0.key == UniqueID(count % 5) })
        else { throw ChildFailure("a consumer of the log has \(unseen) before it after \(count) transactions") }
    }

    /// The entity that is migrated is there in one version.
    private func checkLabels(_ database: any Database) throws {
        let isRequired = isFull && history.counts[.fill] != nil
        let entity = try database.entities().first { $0.name == "label" }
        if try database.schemaVersion == 1 {
            let labels = try DAO<TitledLabel>(storage: database.storage(for: TitledLabel.self)).read()
            guard labels == TitledLabel.all, history.running == .evolve || history.counts[.evolve] != nil else {
                throw ChildFailure("the migrated rows are not there")
            }
        } else {
            guard !isFull || history.counts[.evolve] == nil else { throw ChildFailure("the migration was lost") }
            guard entity != nil else {
                if isRequired { throw ChildFailure("an entity was lost") }
                return
            }
            let labels = try DAO<Label>(storage: database.storage(for: Label.self)).read()
            guard labels == Label.all || labels.isEmpty && !isRequired else {
                throw ChildFailure("the rows before the migration are not there")
            }
        }
    }

    /// A backup is there as a whole, whatever the durability.
    private func checkBackup(_ place: Place) throws {
        var accepted = history.counts[.backup].map { [$0] } ?? []
        if history.running == .backup { accepted.append(history.commit) }
        guard FileManager.default.fileExists(atPath: place.path(Work.backup)) else {
            guard history.counts[.backup] == nil else { throw ChildFailure("the backup was lost") }
            return
        }
        let backup = try Ledger(place.url("create=false&readOnly=true", file: Work.backup))
        defer { try? backup.database.close() }
        let count = try backup.count()
        guard accepted.contains(count), try backup.isWhole(), try backup.database.verify().isSound else {
            throw ChildFailure("the backup has \(count) transactions, not \(accepted)")
        }
    }

    /// An unfinished copy can be continued; a finished one is there.
    private func checkCopy(_ place: Place) throws {
        let wanted = history.counts[.copy]
        guard wanted != nil || history.running == .copy else { return }
        if wanted != nil, isFull {
            let copy = try Ledger(place.url("create=false", file: Work.copy))
            defer { try? copy.database.close() }
            guard try copy.count() == wanted, try copy.isWhole(), try copy.database.verify().isSound else {
                throw ChildFailure("the copy is not that of \(wanted ?? 0) transactions")
            }
        } else {
            let source = try drivers.open(place.url())
            defer { try? source.close() }
            let target = try drivers.open(place.url(file: Work.copy))
            defer { try? target.close() }
            guard try target.verify().isSound else { throw ChildFailure("the unfinished copy is damaged") }
            // Relaxed, the source can have lost what the copy has.
            guard isFull else { return }
            _ = try source.copy(to: target)
            guard try target.verify().isSound else { throw ChildFailure("the continued copy is damaged") }
        }
    }
}
