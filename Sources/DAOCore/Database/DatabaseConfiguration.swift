import Foundation

/// How to open a database: as a value, or as a URL in a configuration file.
///
/// ```swift
/// let configuration = try DatabaseConfiguration(url: "sqlite:///var/lib/app.db?durability=relaxed")
/// ```
///
/// The URL is `scheme:path?option=value&…`, with `scheme:///absolute/path` for an absolute path, `scheme:relative/path` for one relative to the
/// working directory, and for memory `memory:` or `memory:name`. Characters that mean something in a URL (`?`, `#`, `%`, a space) are
/// percent-encoded in it. Options: `create` and `readOnly` (`true` or `false`), `durability` (`full` or `relaxed`), `timeout` (seconds), and whatever
/// the driver has of its own.
public struct DatabaseConfiguration: Sendable, Hashable {

    /// How much survives when a commit has returned (contract T6).
    public enum Durability: String, Sendable, Hashable, CaseIterable {
        /// Survives power loss.
        case full
        /// Survives a crash of the process.
        case relaxed
    }

    /// The URL scheme, which names the driver.
    public var scheme: String
    /// The path of the file; for memory the name that shares it, or empty for one of its own.
    public var path: String
    /// Whether to refuse every write.
    public var isReadOnly = false
    /// Whether to create what is missing. If not, a missing file is `.notFound`.
    public var createsIfMissing = true
    /// How much survives when a commit has returned.
    public var durability = Durability.full
    /// How long to wait for another process's write lock before `.busy`.
    public var busyTimeout: Duration = .seconds(5)
    /// The driver's own options, by name.
    public var options: [String: String] = [:]

    /// Describes a database.
    ///
    /// - Parameters:
    ///   - scheme: The URL scheme, which names the driver.
    ///   - path: The path of the file, as it is, without percent-encoding; for memory a name.
    public init(scheme: String, path: String) {
        self.scheme = scheme
        self.path = path
    }
}

extension DatabaseConfiguration {
    /// Reads a configuration from a URL.
    ///
    /// - Parameter url: The URL as text.
    /// - Throws: `.invalidConfiguration`, saying what is wrong and where.
    public init(url: String) throws {
        func problem(_ message: String) -> StorageError {
            // An encryption key that somebody put into a URL does not belong into a log.
            let shown = url.replacing(/([?&]key=)[^&]*/) { "\($0.output.1)…" }
            return StorageError(.invalidConfiguration, "the database URL '\(shown)' \(message)")
        }
        guard let colon = url.firstIndex(of: ":"), colon != url.startIndex else {
            throw problem("has no scheme; begin it like 'sqlite:' or 'memory:'")
        }
        let scheme = url[..<colon].lowercased()
        guard
            scheme.unicodeScalars.allSatisfy({
                ("a"..."z").contains($0) || ("0"..."9").contains($0) || "+-.".unicodeScalars.contains($0)
            })
        else { throw problem("has a scheme with a character that schemes do not have; use letters, digits, '+', '-' and '.'") }
        var rest = url[url.index(after: colon)...]
        if rest.contains("#") { throw problem("has a '#'; write it as %23") }
        var query: Substring = ""
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            if !rest.hasPrefix("/"), scheme != "memory", !rest.isEmpty {
                throw problem(
                    "names a host; write an absolute path with three slashes, as in '\(scheme):///\(rest)', a relative one none")
            }
        }
        guard let path = String(rest).removingPercentEncoding else {
            throw problem("has a '%' that is not followed by two hex digits; write a percent sign as %25")
        }
        if path.contains("\0") { throw problem("has a NUL character in its path; use another path") }
        self.init(scheme: scheme, path: path)
        var seen: Set<String> = []
        for pair in query.split(separator: "&", omittingEmptySubsequences: true) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = String(parts[0]).removingPercentEncoding, !name.isEmpty,
                let value = String(parts[1]).removingPercentEncoding
            else { throw problem("has an option '\(pair)' that is not of the form name=value; write it so") }
            guard seen.insert(name).inserted else { throw problem("has the option '\(name)' twice; give it once") }
            try set(name, value, problem)
        }
    }

    private mutating func set(_ name: String, _ value: String, _ problem: (String) -> StorageError) throws {
        func boolean() throws -> Bool {
            switch value {
            case "true": true
            case "false": false
            default: throw problem("has '\(name)=\(value)'; use true or false")
            }
        }
        switch name {
        case "readOnly": isReadOnly = try boolean()
        case "create": createsIfMissing = try boolean()
        case "durability":
            guard let durability = Durability(rawValue: value) else {
                throw problem("has 'durability=\(value)'; use \(Durability.allCases.map(\.rawValue).joined(separator: " or "))")
            }
            self.durability = durability
        case "timeout":
            guard let seconds = Double(value), seconds >= 0, seconds <= 86_400 else {
                throw problem("has 'timeout=\(value)'; use a number of seconds from 0 to 86400")
            }
            busyTimeout = .milliseconds(Int64(seconds * 1000))
        default: options[name] = value
        }
    }
}
