import DAORedaction
import DAOTransport

/// The log entries of the nodes for one call of a chain. A ``LoggerNode`` at the top writes them.
///
/// The log belongs to the call, not to the nodes. A node finds it as ``current``, in every operator,
/// dispatcher and task below the logger. Without a logger there is no log, and recording has no cost.
///
/// ```swift
/// struct AuditNode: AsyncNode {
///     func run(_ id: Int) async throws -> Int {
///         ChainLog.record("AuditNode", .request, "asked for \(id)")
///         return id
///     }
/// }
/// ```
public final class ChainLog: Sendable {
    /// The log of the current call; nil without a ``LoggerNode`` above.
    @TaskLocal public static var current: ChainLog?

    private let notes = Locked<[Entry]>([])

    /// Creates an empty log.
    public init() {}

    /// Records an entry in the current log, if there is one.
    public static func record(_ node: String, _ stage: Stage, _ message: @autoclosure () -> String) {
        current?.add(Entry(node: node, stage: stage, message: message()))
    }

    /// Records an entry. Secrets are hidden in the URLs of its message.
    public func add(_ entry: Entry) {
        let shown = Entry(node: entry.node, stage: entry.stage, message: redactedURLs(in: entry.message))
        notes.withLock { $0.append(shown) }
    }

    /// The recorded entries, ordered by stage, and within a stage by time of recording.
    public var entries: [Entry] {
        Self.inOrder(notes.withLock { $0 })
    }

    /// Removes and returns the recorded entries.
    func takeEntries() -> [Entry] {
        Self.inOrder(
            notes.withLock { notes in
                defer { notes = [] }
                return notes
            })
    }

    private static func inOrder(_ notes: [Entry]) -> [Entry] {
        notes.enumerated().sorted { ($0.element.stage, $0.offset) < ($1.element.stage, $1.offset) }.map(\.element)
    }
}

extension ChainLog {
    /// The stage of a chain that recorded an entry. The log is written in the order of stages.
    public struct Stage: Sendable, Hashable, Comparable, RawRepresentable {
        /// The position; lower positions are written first.
        public let rawValue: Int

        /// Creates a custom stage, which can lie between the predefined stages.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The creation of the request.
        public static let request = Stage(rawValue: 100)
        /// The transfer of the request.
        public static let sending = Stage(rawValue: 200)
        /// The response as it was received.
        public static let response = Stage(rawValue: 300)
        /// The status of the response.
        public static let status = Stage(rawValue: 400)
        /// The body of the response.
        public static let body = Stage(rawValue: 500)
        /// The mapping to models.
        public static let mapping = Stage(rawValue: 600)

        /// Compares by position.
        public static func < (left: Stage, right: Stage) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// A single entry of a node.
    public struct Entry: Sendable, Hashable, CustomStringConvertible {
        /// The name of the node, used to filter the log.
        public let node: String
        /// The stage of the chain.
        public let stage: Stage
        /// The message. The nodes of this module log no headers and no bodies.
        public let message: String

        /// Creates an entry.
        public init(node: String, stage: Stage, message: String) {
            self.node = node
            self.stage = stage
            self.message = message
        }

        /// The node and its message.
        public var description: String {
            "\(node): \(message)"
        }
    }
}
