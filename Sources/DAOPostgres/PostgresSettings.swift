import DAOCore
import DAOSystemPostgres

/// What the connections of an engine have in common.
struct PostgresSettings: Sendable {
    /// The options of the driver; all others are parameters of libpq.
    static let ownOptions: Set = ["schema", "pool", "pooler", "writers", "reads", "statementTimeout"]
    /// The names of libpq's parameters that a URL may have.
    static let parameterNames: Set<String> = {
        var names: Set<String> = []
        guard let first = PQconndefaults() else { return names }
        defer { PQconninfoFree(first) }
        var option = first
        while let keyword = option.pointee.keyword {
            names.insert(String(cString: keyword))
            option += 1
        }
        // The first two are the path of the URL and the business of the driver.
        return names.subtracting(["dbname", "client_encoding", "replication"])
    }()

    /// libpq's parameters.
    private(set) var parameters: [String: String]
    /// The schema with the tables.
    let schema: String
    /// The table that a write transaction locks, so that others wait. Its row has a version that changes with every change of the
    /// catalog. Its name is whole: without its schema no transaction begins, whatever else has its name.
    let gate: String
    /// The maximum number of connections, those for writing included.
    let pool: Int
    /// The number of connections for writing. Where there are several, transactions run side by side.
    let writers: Int
    /// How long to wait for other clients, and for a free connection.
    let busyTimeout: Duration
    /// How long the server works on a statement.
    private(set) var statementTimeout: Duration
    /// How long to wait for a server, in seconds.
    private(set) var connectTimeout: Int
    /// What this client has seen; nil when it never reads from a standby.
    let seen: SeenPosition?
    /// What each connection must have seen before it reads; nil for one to a standby, which is asked before it is chosen.
    private(set) var required: RequiredPosition? = RequiredPosition()
    /// What the engine's connections know of their statements behind a pooler that gives a connection of the server to another
    /// client after each transaction; nil where a client keeps its connection, and the connection remembers all by itself.
    let pooled: PooledStatements?
    /// The connections that other databases of this process use, too; nil where an engine has its own.
    let shared: ServerConnections?
    /// Whether the connection is one to a standby.
    private(set) var isOfStandby = false
    /// The number of servers that are tried one after another.
    let hostCount: Int
    /// The server, the database and the schema, as errors name them.
    let path: String

    /// How long nothing may come from a server that works. It ends a statement itself before.
    var patience: Duration { statementTimeout * 1.1 + .milliseconds(500) }

    /// The settings of a connection that asks often and waits for nobody.
    var forPolling: PostgresSettings {
        var settings = self
        settings.statementTimeout = min(statementTimeout, .seconds(5))
        return settings
    }

    /// The settings of a connection to a standby, for which nobody waits for long.
    var forStandby: PostgresSettings {
        var settings = self
        settings.isOfStandby = true
        settings.required = nil
        settings.shuffleServers()
        settings.connectTimeout = min(connectTimeout, 2)
        settings.parameters["connect_timeout"] = "\(settings.connectTimeout)"
        settings.parameters["target_session_attrs"] = "standby"
        return settings
    }

    /// Lets another server be the first that is tried: each connection is to any of the standbys.
    private mutating func shuffleServers() {
        let order = (0..<hostCount).shuffled()
        for name in ["host", "hostaddr", "port"] {
            let servers = parameters[name]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
            // One port can be that of all hosts.
            if servers.count == hostCount { parameters[name] = order.map { String(servers[$0]) }.joined(separator: ",") }
        }
    }

    init(_ configuration: DatabaseConfiguration) throws {
        func invalid(_ message: String) -> StorageError {
            StorageError(.invalidConfiguration, message, path: configuration.path)
        }
        if configuration.path.isEmpty {
            throw invalid("the URL names no database; write it like 'postgres://user@host/database'")
        }
        if configuration.path.contains("/") || configuration.path.contains("=") {
            throw invalid("the name of the database has a '/' or a '='; write it like 'postgres://user@host/database'")
        }
        schema = configuration.options["schema"] ?? "public"
        if schema.isEmpty { throw invalid("the option 'schema' is empty; give the name of a schema, or omit it") }
        // The server's own: tables there would be lost, or in the way of everybody.
        if schema.lowercased().hasPrefix("pg_") || schema.lowercased() == "information_schema" {
            throw invalid("the schema '\(schema)' is the server's own; give the name of another schema")
        }
        gate = "\(PostgresDialect().quoted(schema)).\"dao_gate\""
        pool = try configuration.count("pool", in: 2...1000) ?? 8
        switch configuration.options["writers"] {
        case nil, "one": writers = 1
        case "many": writers = pool / 2
        default: throw invalid("the option 'writers' is neither 'one' nor 'many'; write one of them, or omit it")
        }
        if configuration.options["writers"] == "many", pool < 4 {
            throw invalid("'writers=many' needs at least two connections that write; open it with pool=4 or more")
        }
        switch configuration.options["reads"] {
        case nil, "primary": seen = nil
        case "standby": seen = SeenPosition()
        default: throw invalid("the option 'reads' is neither 'primary' nor 'standby'; write one of them, or omit it")
        }
        switch configuration.options["pooler"] {
        case nil, "session": pooled = nil
        case "transaction", "process": pooled = PooledStatements()
        default:
            throw invalid(
                "the option 'pooler' is neither 'session' nor 'transaction' nor 'process'; write one of them, or omit it")
        }
        if pooled != nil, seen != nil {
            throw invalid(
                "'reads=standby' asks a standby what it has and reads from it later, and a pooler may send both to different "
                    + "servers; connect to the servers without the option 'pooler', or read from the primary")
        }
        connectTimeout = try configuration.count("connect_timeout", in: 1...3600) ?? 10
        busyTimeout = configuration.busyTimeout
        statementTimeout = .seconds(try configuration.count("statementTimeout", in: 1...86_400) ?? 300)
        var parameters = configuration.options.filter { !Self.ownOptions.contains($0.key) }
        parameters["dbname"] = configuration.path
        parameters["client_encoding"] = "UTF8"
        if seen != nil {
            guard ["read-write", "primary", nil].contains(parameters["target_session_attrs"]) else {
                throw invalid("'reads=standby' chooses the servers; omit 'target_session_attrs'")
            }
            parameters["target_session_attrs"] = "read-write"
        }
        // A server that has vanished is noticed.
        for (name, value) in [
            ("connect_timeout", "\(connectTimeout)"), ("keepalives_idle", "30"), ("keepalives_interval", "10"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "60000"), ("fallback_application_name", "swift-dao"),
        ] where parameters[name] == nil { parameters[name] = value }
        self.parameters = parameters
        shared =
            configuration.options["pooler"] == "process" ? ServerConnections.shared(parameters, maximum: pool) : nil
        let host = parameters["host"] ?? parameters["hostaddr"]
        hostCount = host?.split(separator: ",", omittingEmptySubsequences: false).count ?? 1
        path = "\(host ?? "")\(parameters["port"].map { ":\($0)" } ?? "")/\(configuration.path)?schema=\(schema)"
    }
}
