import DAOCore
import DAOMemory
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

/// A server whose data are on a small disk, a file system in memory. Only root can make one, and not in every container.
@Suite("L4 · A full disk of a server", .enabled(if: Server.isThere, "there is no server"))
struct FullDiskTests {
    private static let canMount: Bool = {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("dao-mount-\(UUID().uuidString)").path
        guard getuid() == 0, (try? FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)) != nil
        else { return false }
        defer { try? FileManager.default.removeItem(atPath: place) }
        guard (try? root("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place)) != nil else { return false }
        return (try? root("umount", place)) != nil
    }()

    /// Runs a program as root.
    private static func root(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        guard process.waitForEnd() == 0 else { throw ServerFailure(message: arguments.joined(separator: " ")) }
    }

    @Test(.enabled(if: canMount, "only root can mount a small disk, where mounting is allowed"))
    func nothingOfACallStaysAndAllGoesOnWithMoreSpace() async throws {
        try await onThread {
            var disk = ""
            // The log is on another disk: without space for it, the server stops.
            let cluster = try Cluster(hasStandby: false) { cluster, data in
                disk = data
                try Self.root("mv", data, "\(data).old")
                try Self.root("mkdir", data)
                try Self.root("mount", "-t", "tmpfs", "-o", "size=48m,mode=700", "tmpfs", data)
                try Self.root("chown", "--reference=\(data).old", data)
                try Cluster.run("sh", "-c", "cp -Rp '\(data).old/.' '\(data)' && mv '\(data)/pg_wal' '\(data).wal'")
                try Cluster.run("ln", "-s", "\(data).wal", "\(data)/pg_wal")
                try Self.root("rm", "-r", "\(data).old")
            }
            defer {
                try? cluster.killPrimary()
                try? Self.root("umount", "-l", disk)
                try? Self.root("rm", "-r", "\(disk).wal")
                cluster.remove()
            }
            let source = try DatabaseDrivers(.memory).open("memory:")
            let many = (0..<60_000).map { Book(id: $0, title: "\($0) " + String(repeating: "x", count: 500), shelf: nil) }
            try source.books.create(many)
            let database = try DatabaseDrivers(.postgres).open(cluster.newURL("pool=4"))
            try database.books.create(Book(id: -1, title: "first", shelf: nil))
            for call in [{ try database.books.create(many) }, { try database.books.persist(many) }] {
                #expect(try storageError(call).kind == .outOfSpace)
                #expect(try database.books.count() == 1)
            }
            // A transaction goes on without the call.
            try database.transaction {
                #expect(try storageError { try database.books.create(many) }.kind == .outOfSpace)
                try database.books.persist(Book(id: -1, title: "changed", shelf: nil))
            }
            #expect(try database.books.read().map(\.title) == ["changed"])
            // A copy goes on when there is more space.
            try database.books.erase(byPrimaryKey: -1)
            #expect(try storageError { try source.copy(to: database) }.kind == .outOfSpace)
            let there = try database.books.count()
            #expect(there < many.count)
            try Self.root("mount", "-o", "remount,size=256m", disk)
            #expect(try source.copy(to: database).rowsWritten == many.count - there)
            #expect(try database.books.count() == many.count)
            #expect(try source.books.count() == many.count)
            try database.close()
            try source.close()
        }
    }
}
