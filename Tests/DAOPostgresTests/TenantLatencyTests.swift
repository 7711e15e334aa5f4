import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

@Suite("Tenants that are schemas of a server", .enabled(if: Server.isThere, "there is no server")) struct TenantLatencyTests {
    /// `TENANTS=1000` is the long form.
    @Test func schemasShareConnectionsBesideADeadServer() async throws {
        let long = ProcessInfo.processInfo.environment["TENANTS"].flatMap { Int($0) }
        let work = TenantWork(tenants: long ?? 60)
        let (prefix, silent) = ("tenants-\(UUID().uuidString.prefix(8).lowercased())", try SilentServer())
        let url = try #require(Server.url)
        let configure: @Sendable (String) throws -> DatabaseConfiguration = { tenant in
            if tenant == "dead" { return try DatabaseConfiguration(url: silent.url) }
            var configuration = try DatabaseConfiguration(url: "\(url)?pool=2&application_name=\(prefix)")
            configuration.options["schema"] = "\(prefix)-\(tenant)"
            return configuration
        }
        // 64 connections in the long form, a database has two.
        let limit = long == nil ? 16 : 64
        let set = DatabaseSet(.init(.postgres), limit: limit, timeout: .seconds(20), configuration: configure)
        let hanging = Task.detached { try await onThread { try storageError { try set.with("dead") { _ in } }.kind } }
        try await onThread {
            while set.openTenants != ["dead"] { usleep(1000) }
            work.run(on: set, threads: 8)
            work.run(on: set, threads: 8, calls: max(work.tenants.count / 8, 25))
            #expect(set.openTenants.count <= limit / 2)
            let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(prefix)'"
            let connections = try #require(try Server.psql(sql).first.flatMap { Int($0) })
            #expect(connections <= limit)
        }
        // Closing the set would be its end, too.
        #expect(try await hanging.value == .unreachable)
        set.close()
        try await onThread {
            let again = DatabaseSet(.init(.postgres), limit: limit, timeout: .seconds(20), configuration: configure)
            work.verify(on: again)
            again.close()
        }
        #expect(work.problems.prefix(5) == [])
        // The dead server is given up after four seconds.
        #expect(work.longestCall < .seconds(4))
        try await onThread {
            for tenant in work.tenants { try PostgresDatabase.dropSchema(of: configure(tenant)) }
        }
    }

    /// All stay open, on fewer connections than there are threads.
    @Test func tenantsShareTheConnectionsOfTheProcess() async throws {
        let long = ProcessInfo.processInfo.environment["TENANTS"].flatMap { Int($0) }
        let work = TenantWork(tenants: long ?? 30)
        let pool = long == nil ? 4 : 64
        let prefix = "shared-\(UUID().uuidString.prefix(8).lowercased())"
        let url = try #require(Server.url)
        let configure: @Sendable (String) throws -> DatabaseConfiguration = { tenant in
            var configuration = try DatabaseConfiguration(
                url: "\(url)?pooler=process&pool=\(pool)&timeout=30&application_name=\(prefix)")
            configuration.options["schema"] = "\(prefix)-\(tenant)"
            return configuration
        }
        try await onThread {
            let set = DatabaseSet(.init(.postgres), limit: work.tenants.count, timeout: .seconds(30), configuration: configure)
            work.run(on: set, threads: 8)
            work.run(on: set, threads: 8, calls: max(work.tenants.count / 8, 25))
            work.verify(on: set)
            #expect(set.openTenants.count == work.tenants.count)
            let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(prefix)'"
            let connections = try #require(try Server.psql(sql).first.flatMap { Int($0) })
            #expect((1...pool).contains(connections))
            set.close()
            for tenant in work.tenants { try PostgresDatabase.dropSchema(of: configure(tenant)) }
        }
        #expect(work.problems.prefix(5) == [])
    }

    @Test func aServerThatDoesNotAnswerStopsNoOtherOpening() async throws {
        let silent = try SilentServer()
        let url = try Server.newURL()
        let hanging = Task.detached {
            try await onThread { try storageError { try DatabaseDrivers(.postgres).open(silent.url) }.kind }
        }
        try await onThread {
            usleep(100_000)
            let start = ContinuousClock.now
            let database = try DatabaseDrivers(.postgres).open(url)
            #expect(.now - start < .seconds(3))
            try database.close()
        }
        #expect(try await hanging.value == .unreachable)
        try PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: url))
    }
}

/// A server that takes connections and says nothing.
private final class SilentServer: Sendable {
    private let listener: Int32
    let url: String

    init() throws {
        #if canImport(Glibc)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isThere = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, address, &length) == 0
            }
        }
        self.listener = listener
        guard isThere else { throw ServerFailure(message: "no socket") }
        url = "postgres://dao@127.0.0.1:\(UInt16(bigEndian: address.sin_port))/postgres?connect_timeout=4&pool=2"
    }

    deinit { close(listener) }
}
