/// The progress of a verification.
public struct VerificationProgress: Sendable, Equatable {
    /// The entity whose rows are being read.
    public var entity: String
    /// The number of rows of the entity that were read.
    public var rows: Int
    /// The number of rows of the entity.
    public var total: Int

    /// Creates a progress.
    ///
    /// - Parameters:
    ///   - entity: The entity whose rows are being read.
    ///   - rows: The number of rows of the entity that were read.
    ///   - total: The number of rows of the entity.
    public init(entity: String, rows: Int, total: Int) {
        (self.entity, self.rows, self.total) = (entity, rows, total)
    }
}

/// The result of a verification.
///
/// ```swift
/// let report = try database.verify()
/// for problem in report.problems { print(problem) }
/// ```
public struct VerificationReport: Sendable {
    /// The maximum number of ``problems``.
    public static let maximumProblemCount = 1000

    /// The number of rows of each entity, unreadable rows included.
    public internal(set) var rows: [String: Int] = [:]
    /// The first problems, at most ``maximumProblemCount``, in the order in which they were found. Each names what
    /// it concerns, as far as it is known: entity, key and field.
    public private(set) var problems: [StorageError] = []
    /// The number of all problems.
    public private(set) var problemCount = 0

    /// Whether no problem was found.
    public var isSound: Bool { problemCount == 0 }

    /// Adds a problem.
    mutating func add(_ problem: StorageError) {
        problemCount += 1
        if problems.count < Self.maximumProblemCount { problems.append(problem) }
    }
}

extension VerificationReport: CustomStringConvertible {
    /// The numbers of rows and problems in one line, then a line for each of ``problems``.
    public var description: String {
        let count = rows.values.reduce(0, +)
        let head =
            "\(count) \(count == 1 ? "row" : "rows") in \(rows.count) \(rows.count == 1 ? "entity" : "entities"), "
            + (isSound ? "no problem" : "\(problemCount) \(problemCount == 1 ? "problem" : "problems")")
        return ([head] + problems.map(\.description)).joined(separator: "\n")
    }
}
