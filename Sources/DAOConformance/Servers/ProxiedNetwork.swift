#if os(Linux) || os(macOS)
    import DAOCore
    import DAOTestSupport
    import Foundation

    /// The connections to a PostgreSQL server on this machine, through a proxy.
    final class ProxiedNetwork: ConformanceNetwork {
        private let proxy: Proxy
        private let driver: DatabaseDriver
        private let configuration: DatabaseConfiguration

        /// - Parameters:
        ///   - configuration: The configuration that opens the database without a proxy. Its host is the directory of a socket.
        ///   - driver: The driver.
        init(_ configuration: DatabaseConfiguration, host: String, _ driver: DatabaseDriver) throws {
            proxy = try Proxy(to: host)
            self.driver = driver
            var configuration = configuration
            configuration.options.merge(
                ["host": proxy.directory, "connect_timeout": "2", "statementTimeout": "2", "pool": "8"]
            ) { $1 }
            self.configuration = configuration
        }

        /// The directory of a server's socket; nil when the server is elsewhere, or there are several.
        static func socket(of configuration: DatabaseConfiguration) -> String? {
            guard let host = configuration.options["host"], host.hasPrefix("/"), !host.contains(","),
                configuration.options["port"] ?? "5432" == "5432"
            else { return nil }
            return host
        }

        func open() throws -> any Database { try driver.open(configuration) }

        func openAsStranger() throws -> any Database {
            var configuration = configuration
            configuration.options["user"] = "dao-stranger"
            configuration.options["password"] = "not a password"
            return try driver.open(configuration)
        }

        func cut() { proxy.cutAll() }

        func disturb(next message: ConformanceMessage, _ disturbance: ConformanceDisturbance) {
            proxy.disturb(message == .request ? .toServer : .toClient, after: 0, disturbance == .cut ? .cut : .stall)
        }

        func refuse(_ isRefusing: Bool) { proxy.setDown(isRefusing) }

        func stop() { proxy.stop() }

        deinit { proxy.stop() }
    }
#endif
