import DAORedaction
import Foundation

/// A description of how to open a database. It is a value, or a URL in a configuration file.
///
/// ```swift
/// let configuration = try DatabaseConfiguration(url: "sqlite:///var/lib/app.db?durability=relaxed")
/// ```
///
/// The URL is `scheme:path?option=value&…`: `scheme:///absolute/path` for an absolute path,
/// `scheme:relative/path` for a path relative to the working directory, `memory:` or `memory:name` for
/// memory, `postgres://user@host:port/database` for a server. Characters with a meaning in URLs (`?`, `#`, `%`, a space) are percent-encoded. The options are
/// `create` and `readOnly` (`true` or `false`), `durability` (`full` or `relaxed`), `timeout` (seconds), `log` (`slow` or
/// `all`), and the options of the driver.
public struct DatabaseConfiguration: Sendable, Hashable {

    /// The failures that a commit survives after it has returned (contract T6).
    public enum Durability: String, Sendable, Hashable, CaseIterable {
        /// A commit survives a power loss.
        case full
        /// A commit survives a crash of the process.
        case relaxed
    }

    /// The URL scheme, which identifies the driver.
    public var scheme: String
    /// The path of the file. For memory, it is the name of a shared database, or empty for a database that is
    /// not shared. For a server, it is the name of the database there; the URL's hosts, ports, user and password are the
    /// options `host`, `port`, `user` and `password`.
    public var path: String
    /// Whether all writes are refused.
    public var isReadOnly = false
    /// Whether a missing database is created. Otherwise a missing file throws `.notFound`.
    public var createsIfMissing = true
    /// The failures that a commit survives after it has returned.
    public var durability = Durability.full
    /// The maximum time to wait for the write lock of another process. After it, the call throws `.busy`.
    public var busyTimeout: Duration = .seconds(5)
    /// Which calls are printed to the standard error stream; nil for none.
    public var log: Log? {
        didSet { if log != nil { CallTrace.isUsed.store(true, ordering: .relaxed) } }
    }
    /// Is told of every call of the database; nil for none. It is no part of the URL.
    public var instrument: Instrument?
    /// The key of an encrypted database; nil for a plain one. It is no part of the URL. A kind of database that cannot honour
    /// it refuses it with `unsupported` (contract L6).
    public var encryption: Encryption?
    /// A ``Database/position`` that reads see at least, whichever process and database it is of; nil for none (contract C7). It is no
    /// part of the URL. A kind of database that has no positions refuses it with `invalidConfiguration`.
    public var seenPosition: String?
    /// The options of the driver, by name.
    public var options: [String: String] = [:]

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - scheme: The URL scheme, which identifies the driver.
    ///   - path: The path of the file, without percent-encoding; for memory a name.
    public init(scheme: String, path: String) {
        self.scheme = scheme
        self.path = path
    }
}

extension DatabaseConfiguration {
    /// Creates a configuration from a URL.
    ///
    /// - Parameter url: The URL as text.
    /// - Throws: `.invalidConfiguration` with the fault and its place.
    public init(url: String) throws {
        let url = withSeparateMarks(url)
        func problem(_ message: String) -> StorageError {
            StorageError(.invalidConfiguration, "the database URL '\(redacted(url))' \(message)")
        }
        guard let colon = url.firstIndex(of: ":"), colon != url.startIndex else {
            throw problem("has no scheme; begin it like 'sqlite:' or 'memory:'")
        }
        var scheme = url[..<colon].lowercased()
        // Other programs write both.
        if scheme == "postgresql" { scheme = "postgres" }
        guard
            scheme.unicodeScalars.allSatisfy({
                ("a"..."z").contains($0) || ("0"..."9").contains($0) || "+-.".unicodeScalars.contains($0)
            })
        else { throw problem("has a scheme with a character that schemes do not have; use letters, digits, '+', '-' and '.'") }
        var rest = url[url.index(after: colon)...]
        if scheme == "file" || rest.lowercased().hasPrefix("file:") {
            throw problem(
                "is the URL of a file; write the kind of the database and the path, as in "
                    + "\"\(scheme == "file" ? "sqlite" : scheme):\\(url.path())\"")
        }
        if rest.contains("#") { throw problem("has a '#'; write it as %23") }
        var query: Substring = ""
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        var options: [String: String] = [:]
        if scheme == "postgres" {
            guard let server = Self.server(&rest) else {
                throw problem("has a malformed host, port or user; write it like 'postgres://user@host:5432/database'")
            }
            options = server
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            if rest.utf8.first != UInt8(ascii: "/"), scheme != "memory", !rest.isEmpty {
                let place = redacted("//\(rest)").dropFirst(2)
                throw problem(
                    "names a host; write an absolute path with three slashes, as in '\(scheme):///\(place)', a relative one none")
            }
        }
        // A path is part of every error about its file.
        let appended = rest.firstIndex(of: "&").map { rest[$0...] } ?? ""
        if redacted(appended) != appended || rest.contains(/^[^\/]*:.*(?:@|%(?:25)*40)/) {
            throw problem("has a secret in its path; write options after a '?', and no user")
        }
        guard let path = String(rest).removingPercentEncoding else {
            throw problem("has a '%' that is not followed by two hex digits; write a percent sign as %25")
        }
        if path.contains("\0") { throw problem("has a NUL character in its path; use another path") }
        self.init(scheme: scheme, path: path)
        self.options = options
        var seen = Set(options.keys)
        for pair in query.split(separator: "&", omittingEmptySubsequences: true) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = String(parts[0]).removingPercentEncoding, !name.isEmpty,
                let value = String(parts[1]).removingPercentEncoding
            else { throw problem("has an option '\(redacted(pair))' that is not of the form name=value; write it so") }
            guard seen.insert(name).inserted else { throw problem("has the option '\(redacted(name))' twice; give it once") }
            try set(name, value, problem)
        }
    }

    /// Takes the hosts, ports and the user from the beginning of a URL, which is then the path without its slash.
    ///
    /// - Returns: The options; nil when they cannot be read.
    private static func server(_ rest: inout Substring) -> [String: String]? {
        guard rest.hasPrefix("//") else { return [:] }
        rest = rest.dropFirst(2)
        var authority = rest.prefix { $0 != "/" }
        rest = rest.dropFirst(authority.count + 1)
        var texts: [String: Substring] = [:]
        if let sign = authority.lastIndex(of: "@") {
            let user = authority[..<sign]
            texts["user"] = user.prefix { $0 != ":" }
            texts["password"] = user.firstIndex(of: ":").map { user[user.index(after: $0)...] }
            authority = authority[authority.index(after: sign)...]
        }
        var options: [String: String] = [:]
        for (name, text) in texts where !text.isEmpty {
            guard let text = String(text).removingPercentEncoding else { return nil }
            options[name] = text
        }
        if authority.isEmpty { return options }
        var hosts: [String] = []
        var ports: [Substring] = []
        for place in authority.split(separator: ",", omittingEmptySubsequences: false) {
            let end = place.hasPrefix("[") ? place.firstIndex(of: "]").map(place.index(after:)) : place.firstIndex(of: ":")
            let name = place[..<(end ?? place.endIndex)]
            let port = place[name.endIndex...]
            guard port.isEmpty || port.first == ":" && port.count > 1 && port.dropFirst().allSatisfy(\.isASCIIDigit),
                let host = String(name).removingPercentEncoding
            else { return nil }
            hosts.append(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host)
            ports.append(port.dropFirst())
        }
        options["host"] = hosts.joined(separator: ",")
        if !ports.allSatisfy(\.isEmpty) { options["port"] = ports.joined(separator: ",") }
        return options
    }

    /// What tells the database from others: the scheme and the path, and the server and the schema of a database on a server.
    package var place: String {
        let parts = ["host", "hostaddr", "port", "schema"].compactMap { name in options[name].map { "\(name)=\($0)" } }
        return "\(scheme):\(path)" + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
    }

    /// The server of the database; nil for a database that is on none, or on one that has no name.
    var server: String? {
        let parts = ["host", "hostaddr", "port"].compactMap { name in options[name].map { "\(name)=\($0)" } }
        return parts.isEmpty ? nil : parts.joined(separator: "&")
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
        case "log":
            guard let log = Log(rawValue: value) else {
                throw problem("has 'log=\(value)'; use \(Log.allCases.map(\.rawValue).joined(separator: " or "))")
            }
            self.log = log
        default: options[name] = value
        }
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

extension DatabaseConfiguration: CustomStringConvertible, CustomReflectable {
    /// The URL of the configuration, without its secrets: the value of `key` is hidden.
    public var description: String {
        var settings = options
        if isReadOnly { settings["readOnly"] = "true" }
        if !createsIfMissing { settings["create"] = "false" }
        if durability != .full { settings["durability"] = durability.rawValue }
        if busyTimeout != .seconds(5) { settings["timeout"] = "\(busyTimeout / .seconds(1))" }
        settings["log"] = log?.rawValue
        if settings["user"] != nil { settings["user"] = "…" }
        let query = settings.sorted { $0.key < $1.key }.map { "\(Self.encoded($0.key))=\(Self.encoded($0.value))" }
        return redacted("\(scheme):\(Self.encoded(path))" + (query.isEmpty ? "" : "?" + query.joined(separator: "&")))
    }

    /// The same text as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed.subtracting(CharacterSet(charactersIn: "&=+;@"))) ?? "…"
    }
}
