#if os(Linux) || os(macOS)
    import DAOCore
    import DAORedaction
    import Foundation

    extension ConformanceTarget {
        /// Describes the kind of database that a URL without a path names, for a command line. This program
        /// serves as the other processes.
        ///
        /// - Parameters:
        ///   - url: The URL, with options of the database.
        ///   - name: What reports call it; nil for the URL.
        ///   - drivers: The drivers there are.
        ///   - isFile: Whether the database is kept in a file; nil for all but those in memory and on a server.
        ///   - timeout: How long the other processes wait for a transaction, unless the URL says so.
        ///   - program: The program that serves as the other processes.
        ///   - dropSchema: Drops the schema of a configuration on a server.
        /// - Throws: ``UsageError`` when the URL has a path or an unknown scheme.
        package init(
            url: String, name: String? = nil, drivers: [DatabaseDriver], isFile: Bool? = nil, timeout: Duration? = nil,
            program: URL? = Bundle.main.executableURL,
            dropSchema: (@Sendable (DatabaseConfiguration) throws -> Void)? = nil
        ) throws {
            let configuration = try DatabaseConfiguration(url: url)
            // On a server every test gets a separate schema of the database.
            let isServer = configuration.scheme == "postgres"
            guard isServer || configuration.path.isEmpty else {
                throw UsageError(
                    "'\(redacted(url))' names one database, and every test needs a separate one; write '\(configuration.scheme):'"
                )
            }
            guard let driver = drivers.first(where: { $0.scheme == configuration.scheme }) else {
                let known = drivers.map { "\($0.scheme):" }.joined(separator: ", ")
                throw UsageError("there is no driver for '\(redacted(url))'; there are: \(known)")
            }
            // What a test changes takes precedence over the URL.
            @Sendable func merged(_ asked: DatabaseConfiguration) -> DatabaseConfiguration {
                var merged = asked
                merged.options.merge(configuration.options) { asked, _ in asked }
                if asked.durability == .full { merged.durability = configuration.durability }
                if asked.busyTimeout == .seconds(5) { merged.busyTimeout = configuration.busyTimeout }
                return merged
            }
            let configured = DatabaseDriver(
                scheme: driver.scheme, optionNames: driver.optionNames, encrypts: driver.encrypts,
                hasPositions: driver.hasPositions, connections: { driver.connections(of: merged($0)) }
            ) { try driver.open(merged($0)) }
            if isServer {
                @Sendable func open(_ location: Location, _ change: (inout DatabaseConfiguration) -> Void) throws -> any Database
                {
                    var asked = DatabaseConfiguration(scheme: driver.scheme, path: configuration.path)
                    asked.options["schema"] = location.name
                    change(&asked)
                    return try configured.open(asked)
                }
                self.init(name: name ?? redacted(url), open: open)
                @Sendable func schema(at location: Location) -> DatabaseConfiguration {
                    var configuration = configuration
                    configuration.options["schema"] = location.name
                    return configuration
                }
                if let dropSchema { self = removing { try dropSchema(schema(at: $0)) } }
                if let socket = ProxiedNetwork.socket(of: configuration) {
                    self = withNetwork { try ProxiedNetwork(schema(at: $0), host: socket, driver) }
                }
                guard let program else { return }
                let isTimed = url.contains("?timeout=") || url.contains("&timeout=")
                let wait = isTimed ? configuration.busyTimeout : timeout ?? configuration.busyTimeout
                self = withProcesses(waiting: wait) { location in
                    let options = "schema=\(location.name)" + (isTimed ? "" : "&timeout=\(wait / .seconds(1))")
                    return try ChildProcess(program, ["--serve", url + (url.contains("?") ? "&" : "?") + options])
                }
                return
            }
            let isFile = isFile ?? (driver.scheme != "memory")
            @Sendable func path(_ location: Location) -> String {
                isFile ? location.directory.appendingPathComponent("test.db").path : location.name
            }
            let target = ConformanceTarget(name: name ?? redacted(url), driver: configured, isFile: isFile, path: path)
            guard isFile, let program else {
                self = target
                return
            }
            let query = url.firstIndex(of: "?").map { String(url[$0...]) } ?? ""
            let wait = query.contains("timeout=") ? nil : timeout
            let options = query + (wait.map { (query.isEmpty ? "?" : "&") + "timeout=\($0 / .seconds(1))" } ?? "")
            self = target.withProcesses(waiting: wait ?? configuration.busyTimeout) { location in
                let file = path(location).addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path(location)
                return try ChildProcess(program, ["--serve", "\(driver.scheme)://\(file)\(options)"])
            }
        }
    }

    extension ConformanceProcesses {
        /// Serves a database to another process when the command line says so, and exits.
        package static func serveIfAsked(_ drivers: [DatabaseDriver]) throws {
            guard CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--serve" else { return }
            try serve(DatabaseDrivers(drivers).open(CommandLine.arguments[2]))
            exit(0)
        }
    }

    /// What is wrong with the command line.
    package struct UsageError: Error, CustomStringConvertible {
        package let description: String
        package init(_ description: String) { self.description = description }
    }
#endif
