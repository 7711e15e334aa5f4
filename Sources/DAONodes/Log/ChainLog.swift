import DAOTransport

/// What the nodes of one processing note down, for a ``LoggerNode`` at its top to write.
///
/// The log belongs to the call, not to the nodes: a node finds it as ``current``, through every operator, dispatcher and task
/// below the logger. Without a logger there is none, and noting costs nothing.
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
    /// The log of the processing that runs here; nil without a ``LoggerNode`` above.
    @TaskLocal public static var current: ChainLog?

    private let notes = Locked<[Entry]>([])

    /// A log with nothing in it.
    public init() {}

    /// Notes something down in the current log, if there is one.
    public static func record(_ node: String, _ stage: Stage, _ message: @autoclosure () -> String) {
        current?.add(Entry(node: node, stage: stage, message: message()))
    }

    /// Notes something down.
    public func add(_ entry: Entry) {
        notes.withLock { $0.append(entry) }
    }

    /// What was noted so far, by stage; within a stage as it was noted.
    public var entries: [Entry] {
        Self.inOrder(notes.withLock { $0 })
    }

    /// Takes out what was noted so far.
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
    /// Where in a chain something was noted; the log is written in this order.
    public struct Stage: Sendable, Hashable, Comparable, RawRepresentable {
        /// The place; lower ones are written first.
        public let rawValue: Int

        /// A place, of one's own between those that are here.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Making the request.
        public static let request = Stage(rawValue: 100)
        /// Sending it.
        public static let sending = Stage(rawValue: 200)
        /// The answer as it came.
        public static let response = Stage(rawValue: 300)
        /// Its status.
        public static let status = Stage(rawValue: 400)
        /// Its bytes.
        public static let body = Stage(rawValue: 500)
        /// Its models.
        public static let mapping = Stage(rawValue: 600)

        /// By place.
        public static func < (left: Stage, right: Stage) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// One thing that a node noted.
    public struct Entry: Sendable, Hashable, CustomStringConvertible {
        /// The name of the node, by which the log is filtered.
        public let node: String
        /// Where in the chain.
        public let stage: Stage
        /// What there is to say. The nodes here say no headers and no bodies.
        public let message: String

        /// A note.
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
