import DAOCore

/// One proof: a named case with the contract's rules that it proves.
public struct ConformanceCase: Sendable {
    /// What the case needs that not every database, or not every target, has.
    public enum Requirement: String, Sendable, Hashable, CaseIterable, Codable {
        /// Data that outlives the last reference: reopening finds it.
        case persistence
        /// Transactions inside transactions.
        case savepoints
        /// Readers that see a snapshot beside a writer.
        case snapshotReads
        /// Stored entities that are brought up to date, migrations and copies.
        case evolution
        /// Values of 64 MiB.
        case hugeValues
        /// A target that tells where its file is.
        case file
        /// A target that opens with a changed configuration.
        case configuration
        /// A database that several processes may use, and a target that starts them.
        case processes
    }

    /// How a body runs.
    enum Body: Sendable {
        /// On a thread of its own, where it may block.
        case blocking(@Sendable (ConformanceContext) throws -> Void)
        /// As a task.
        case concurrent(@Sendable (ConformanceContext) async throws -> Void)
    }

    /// Names the case for good: the chapter's letter, then a word or two, such as `K.longestString`.
    public let id: String
    /// The contract's rules it proves, such as `["K3"]`.
    public let rules: [String]
    /// What is expected, as a sentence.
    public let title: String
    /// What it needs that not every database has.
    public internal(set) var requirements: Set<Requirement>
    /// What a database must lack for it: the negative twins of other cases, which expect a typed refusal.
    public let absences: Set<Requirement>
    /// Whether it takes seconds or much memory.
    public let isHeavy: Bool

    let body: Body

    /// The chapter it belongs to.
    public var chapter: ContractRule.Chapter? { ContractRule.Chapter(rawValue: String(id.prefix { $0 != "." })) }
}

extension ConformanceCase {
    /// Describes a case whose body runs on one thread.
    ///
    /// - Parameters:
    ///   - id: The chapter's letter, then a word or two.
    ///   - rules: The contract's rules it proves.
    ///   - title: What is expected, as a sentence.
    ///   - requirements: What it needs that not every database has.
    ///   - absences: What a database must lack.
    ///   - isHeavy: Whether it takes seconds or much memory.
    ///   - body: The proof; it throws what it finds wrong.
    init(
        _ id: String, _ rules: String..., title: String, requires requirements: Set<Requirement> = [],
        lacks absences: Set<Requirement> = [], isHeavy: Bool = false,
        _ body: @escaping @Sendable (ConformanceContext) throws -> Void
    ) {
        self.init(
            id: id, rules: rules, title: title, requirements: requirements, absences: absences, isHeavy: isHeavy,
            body: .blocking(body))
    }

    /// Describes a case whose body uses tasks.
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
    /// Why the case does not run on a target, or nil when it does.
    func reasonToSkip(on target: ConformanceTarget, _ capabilities: Capabilities?) -> String? {
        let present = Requirement.present(in: target, capabilities)
        if let missing = requirements.subtracting(present).sorted(by: { $0.rawValue < $1.rawValue }).first {
            return missing.missing
        }
        // Without capabilities nothing is known to be lacking.
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
                case .evolution: capabilities?.hasEvolution ?? true
                case .hugeValues: (capabilities?.maximumValueLength ?? .max) >= 64 << 20
                case .file: target.file != nil
                case .configuration: target.openConfiguration != nil
                case .processes: target.startProcess != nil && capabilities?.isMultiProcess != false
                }
            })
    }

    fileprivate var missing: String {
        switch self {
        case .persistence: "its data does not outlive the last reference"
        case .savepoints: "it declares that it has no savepoints"
        case .snapshotReads: "it declares that it has no snapshot reads"
        case .evolution: "it declares that it has no evolution"
        case .hugeValues: "it declares a longest value of less than 64 MiB"
        case .file: "the target does not tell where its file is"
        case .configuration: "the target does not open with a changed configuration"
        case .processes: "the target does not start other processes, or the database is for one"
        }
    }

    fileprivate var surplus: String {
        switch self {
        case .persistence: "it declares that its data is persistent, which other cases prove"
        case .savepoints: "it declares savepoints, which other cases prove"
        case .snapshotReads: "it declares snapshot reads, which other cases prove"
        case .evolution: "it declares evolution, which other cases prove"
        case .hugeValues: "it declares values of 64 MiB, which other cases prove"
        case .file: "the target tells where its file is"
        case .configuration: "the target opens with a changed configuration"
        case .processes: "the target starts other processes"
        }
    }
}
