import DAOChildProcesses
import DAOCore
import DAOTestSupport
import Foundation

/// What a program does with a database during its life, in steps: it creates it, commits, makes a backup, compacts it,
/// migrates it, copies it, closes it and opens it again. What is in the files at any moment follows from the steps that
/// have ended.
final class Work {
    /// A kind of step.
    enum Step: String, CaseIterable {
        case open, commit, fill, backup, compact, evolve, copy, close
    }

    /// The steps that have begun and ended.
    struct History {
        /// The number of the last commit that has ended.
        var commit = 0
        /// The number of the step that runs; nil between two steps.
        var running: Step?
        /// The numbers of commits in the last backup and in the last copy; nil when none has ended.
        var counts: [Step: Int] = [:]

        /// The greatest number of a commit that may be there.
        var begun: Int { running == .commit ? commit + 1 : commit }

        /// Counts a mark of ``Work``.
        mutating func add(_ mark: String) throws {
            let words = mark.split(separator: " ")
            guard words.count == 3, let step = Step(rawValue: String(words[1])), let count = Int(words[2]) else {
                throw ChildFailure("there is no mark '\(mark)'")
            }
            running = words[0] == "begin" ? step : nil
            guard words[0] == "end" else { return }
            if step == .commit { commit = count }
            counts[step] = count
        }
    }

    /// The steps, in order.
    static let steps: [Step] = {
        let parts: [(count: Int, step: Step)] = [
            (1, .open), (4, .commit), (1, .fill), (1, .backup), (14, .commit), (1, .compact), (3, .commit), (1, .evolve),
            (3, .commit), (1, .copy), (1, .backup), (1, .close), (1, .open), (3, .commit), (1, .close),
        ]
        return parts.flatMap { Array(repeating: $0.step, count: $0.count) }
    }()

    let place: Place
    let options: String
    private(set) var history = History()
    private var ledger: Ledger?
    private var folders: DAO<Folder>?

    init(_ place: Place, _ options: String) { (self.place, self.options) = (place, options) }

    /// The path of the backups.
    static let backup = "backup.db"
    /// The path of the copy.
    static let copy = "copy.db"

    /// Runs a step. The closure gets its marks. After an error, the step has not ended.
    func run(_ step: Step, _ mark: (String) -> Void = { _ in }) throws {
        func note(_ verb: String, _ count: Int) throws {
            mark("\(verb) \(step) \(count)")
            try history.add("\(verb) \(step) \(count)")
        }
        try note("begin", history.commit)
        try perform(step)
        try note("end", step == .commit ? history.commit + 1 : history.commit)
    }

    private func perform(_ step: Step) throws {
        if step == .open {
            let ledger = try Ledger(place.url(options))
            folders = try DAO(storage: ledger.database.storage(for: Folder.self))
            self.ledger = ledger
        }
        guard let ledger, let folders else { throw StorageError(.closed, "the database was not opened") }
        switch step {
        case .open: break
        case .commit: try Self.commit(ledger, folders)
        case .fill: try DAO<Label>(storage: ledger.database.storage(for: Label.self)).persist(Label.all)
        case .backup: try ledger.database.backup(to: place.path(Self.backup))
        case .compact: _ = try ledger.database.compact()
        case .evolve: try ledger.database.evolve(TitledLabel.evolution)
        case .copy:
            let target = try drivers.open(place.url(options, file: Self.copy))
            defer { try? target.close() }
            _ = try ledger.database.copy(to: target)
            try target.close()
        case .close:
            (self.ledger, self.folders) = (nil, nil)
            try ledger.database.close()
        }
    }

    /// Closes the database, whatever becomes of it, and forgets it.
    func abandon() {
        try? ledger?.database.close()
        (ledger, folders) = (nil, nil)
    }

    /// Finds out what became of a step that has thrown an error. The database is opened if it is not.
    ///
    /// - Returns: Whether the step has ended.
    func resolve(_ step: Step) throws -> Bool {
        if ledger == nil, step != .close { try perform(.open) }
        let isDone =
            switch (step, ledger) {
            case (.commit, let ledger?): try ledger.count() == history.commit + 1
            case (.evolve, let ledger?): try ledger.database.schemaVersion == 1
            default: step == .close
            }
        if isDone { try history.add("end \(step) \(step == .commit ? history.commit + 1 : history.commit)") }
        history.running = nil
        return isDone
    }

    /// Commits the next batch, and the row of the transaction. A consumer of the log notes in it that it has seen those before.
    static func commit(_ ledger: Ledger, _ folders: DAO<Folder>) throws {
        try ledger.database.transaction {
            if let last = try unseen(ledger.database).last { try ledger.database.acknowledge(last.position, by: consumer) }
            try folders.persist(.made(by: Batches.commitNext(ledger)))
        }
    }

    private static let consumer = "reader"

    /// The changes that the consumer has not noted: those of the last transaction.
    static func unseen(_ database: any Database) throws -> [Change] {
        try database.changes(after: database.logConsumers().first { $0.name == consumer }?.position)
    }
}
