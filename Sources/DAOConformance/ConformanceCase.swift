import DAOCore
import Foundation

/// A named test, with the rules of the contract that it proves.
public struct ConformanceCase: Sendable {
    /// A property that the case needs, and that some databases or targets do not have.
    public enum Requirement: String, Sendable, Hashable, CaseIterable, Codable {
        /// Data that outlives the last reference: reopening finds it.
        case persistence
        /// Transactions inside transactions.
        case savepoints
        /// Readers that see a snapshot while a writer works.
        case snapshotReads
        /// Write transactions that run one after another, so that none of them ends with a conflict.
        case serialWriters
        /// Automatic changes of stored entities, migrations and copies.
        case evolution
        /// Values of 64 MiB.
        case hugeValues
        /// Copies of the database in one file.
        case backup
        /// A file that lost its end is told from one to which the last write was interrupted.
        case truncationDetection
        /// A target that gives the location of its file.
        case file
        /// A target that opens with a changed configuration.
        case configuration
        /// A target that starts another process. Where only one process may use the database, the case closes it before the other
        /// process opens it.
        case otherProcess
        /// A database that several processes may use at once, and a target that starts them.
        case processes
        /// A database on a server, and a target that disturbs the connections to it.
        case network
    }

    /// How the closure of a case runs.
    enum Body: Sendable {
        /// On a new thread, where it may block.
        case blocking(@Sendable (ConformanceContext) throws -> Void)
        /// As a task.
        case concurrent(@Sendable (ConformanceContext) async throws -> Void)
    }

    /// The permanent name of the case: the letter of its chapter, then a word or two, such as
    /// `K.longestString`.
    public let id: String
    /// The rules of the contract that the case proves, such as `["K3"]`.
    public let rules: [String]
    /// The expectation, as a sentence.
    public let title: String
    /// The properties that the case needs.
    public internal(set) var requirements: Set<Requirement>
    /// The properties that a database must not have. These cases are the opposites of other cases: they
    /// expect a typed refusal.
    public let absences: Set<Requirement>
    /// Whether the case takes seconds or much memory.
    public let isHeavy: Bool

    /// The time after which the case is reported as hung, when it has also used as much of the processor, or uses none any more.
    /// It is many times what the case takes on a slow machine.
    public var timeLimit: Duration {
        // An observation that hears nothing waits for all of its time.
        isHeavy || Self.runsUnderThreadSanitizer ? .seconds(300) : .seconds(chapter == .observation ? 10 : 60)
    }

    private static let runsUnderThreadSanitizer = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil

    let body: Body

    /// The chapter that the case belongs to.
    public var chapter: ContractRule.Chapter? { ContractRule.Chapter(rawValue: String(id.prefix { $0 != "." })) }
}

extension ConformanceCase {
    /// Describes a case whose closure runs on one thread.
    ///
    /// - Parameters:
    ///   - id: The letter of the chapter, then a word or two.
    ///   - rules: The rules of the contract that the case proves.
    ///   - title: The expectation, as a sentence.
    ///   - requirements: The properties that the case needs.
    ///   - absences: The properties that a database must not have.
    ///   - isHeavy: Whether the case takes seconds or much memory.
    ///   - body: The closure. It throws a failure when the database breaks a rule.
    init(
        _ id: String, _ rules: String..., title: String, requires requirements: Set<Requirement> = [],
        lacks absences: Set<Requirement> = [], isHeavy: Bool = false,
        _ body: @escaping @Sendable (ConformanceContext) throws -> Void
    ) {
        self.init(
            id: id, rules: rules, title: title, requirements: requirements, absences: absences, isHeavy: isHeavy,
            body: .blocking(body))
    }

    /// Describes a case whose closure uses tasks.
    init(
        concurrent id: String, _ rules: String..., title: String, requires requirements: Set<Requirement> = [],
        lacks absences: Set<Requirement> = [], isHeavy: Bool = false,
        _ body: @escaping @Sendable (ConformanceContext) async throws -> Void
    ) {
        self.init(
            id: id, rules: rules, title: title, requirements: requirements, absences: absences, isHeavy: isHeavy,
            body: .concurrent(body))
    }
}

extension [ConformanceCase] {
    /// The cases, all of which need something.
    func requiring(_ requirement: ConformanceCase.Requirement) -> Self {
        map { each in
            var each = each
            each.requirements.insert(requirement)
            return each
        }
    }
}

extension ConformanceCase {
    /// Returns the reason for which the case does not run on a target; nil when it runs.
    func reasonToSkip(on target: ConformanceTarget, _ capabilities: Capabilities?) -> String? {
        let present = Requirement.present(in: target, capabilities)
        if let missing = requirements.subtracting(present).sorted(by: { $0.rawValue < $1.rawValue }).first {
            return missing.missing(in: target, capabilities)
        }
        // Without capabilities, no property is known to be missing.
        let lacking = Set(Requirement.allCases).subtracting(present)
        if let surplus = absences.subtracting(lacking).sorted(by: { $0.rawValue < $1.rawValue }).first { return surplus.surplus }
        return nil
    }
}

extension ConformanceCase.Requirement {
    static func present(in target: ConformanceTarget, _ capabilities: Capabilities?) -> Set<Self> {
        Set(
            allCases.filter { requirement in
                switch requirement {
                case .persistence: capabilities?.isPersistent ?? true
                case .savepoints: capabilities?.hasSavepoints ?? true
                case .snapshotReads: capabilities?.hasSnapshotReads ?? true
                case .serialWriters: capabilities?.hasConcurrentWriters != true
                case .evolution: capabilities?.hasEvolution ?? true
                case .hugeValues: (capabilities?.maximumValueLength ?? .max) >= 64 << 20
                case .backup: capabilities?.hasBackup ?? false
                case .truncationDetection: capabilities?.detectsTruncation ?? true
                case .file: target.file != nil
                case .configuration: target.openConfiguration != nil
                case .otherProcess: target.startProcess != nil
                case .processes: target.startProcess != nil && capabilities?.isMultiProcess != false
                case .network: target.makeNetwork != nil
                }
            })
    }

    fileprivate func missing(in target: ConformanceTarget, _ capabilities: Capabilities?) -> String {
        switch self {
        case .persistence: "its data does not outlive the last reference"
        case .savepoints: "it declares that it has no savepoints"
        case .snapshotReads: "it declares that it has no snapshot reads"
        case .serialWriters: "it declares that writers run side by side, and that a call with closures can be a conflict"
        case .evolution: "it declares that it has no evolution"
        case .hugeValues: "it declares a longest value of less than 64 MiB"
        case .backup: "it declares that it has no backups"
        case .truncationDetection: "it declares that it cannot tell a file that lost its end from an interrupted write"
        case .file: "the target does not give the location of its file"
        case .configuration: "the target does not open with a changed configuration"
        case .processes where capabilities?.isMultiProcess == false: "it declares that only one process may use the database"
        case .otherProcess, .processes: "the target does not start other processes"
        case .network where target.file != nil || capabilities?.isPersistent == false: "the database is on no server"
        case .network: "the target does not disturb the connections to a server"
        }
    }

    fileprivate var surplus: String {
        switch self {
        case .persistence: "it declares that its data is persistent, which other cases prove"
        case .savepoints: "it declares savepoints, which other cases prove"
        case .snapshotReads: "it declares snapshot reads, which other cases prove"
        case .serialWriters: "it declares that writers run one after another, which other cases prove"
        case .evolution: "it declares evolution, which other cases prove"
        case .hugeValues: "it declares values of 64 MiB, which other cases prove"
        case .backup: "it declares backups, which other cases prove"
        case .truncationDetection: "it declares that it detects a file that lost its end, which other cases prove"
        case .file: "the target gives the location of its file"
        case .configuration: "the target opens with a changed configuration"
        case .otherProcess: "the target starts other processes"
        case .processes: "several processes may use the database, which other cases prove"
        case .network: "the target disturbs the connections to its server"
        }
    }
}
