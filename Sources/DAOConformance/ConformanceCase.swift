import DAOCore

/// One proof: a named case with the contract's rules that it proves.
public struct ConformanceCase: Sendable {
    /// What the case needs that not every database has.
    public enum Requirement: String, Sendable, Hashable, CaseIterable, Codable {
        /// Data that outlives the last reference: reopening finds it.
        case persistence
        /// Transactions inside transactions.
        case savepoints
        /// Readers that see a snapshot beside a writer.
        case snapshotReads
    }

    /// Names the case for good: the chapter's letter, then a word or two, such as `K.longestString`.
    public let id: String
    /// The contract's rules it proves, such as `["K3"]`.
    public let rules: [String]
    /// What is expected, as a sentence.
    public let title: String
    /// What it needs that not every database has.
    public let requirements: Set<Requirement>

    let body: @Sendable (ConformanceContext) async throws -> Void

    /// Describes a case whose body runs on one thread.
    ///
    /// - Parameters:
    ///   - id: The chapter's letter, then a word or two.
    ///   - rules: The contract's rules it proves.
    ///   - title: What is expected, as a sentence.
    ///   - requirements: What it needs that not every database has.
    ///   - body: The proof; it throws what it finds wrong.
    init(
        _ id: String, _ rules: String..., title: String, requires requirements: Set<Requirement> = [],
        _ body: @escaping @Sendable (ConformanceContext) throws -> Void
    ) {
        self.id = id
        self.rules = rules
        self.title = title
        self.requirements = requirements
        self.body = { try body($0) }
    }

    /// Describes a case whose body uses tasks.
    init(
        concurrent id: String, _ rules: String..., title: String, requires requirements: Set<Requirement> = [],
        _ body: @escaping @Sendable (ConformanceContext) async throws -> Void
    ) {
        self.id = id
        self.rules = rules
        self.title = title
        self.requirements = requirements
        self.body = body
    }
}
