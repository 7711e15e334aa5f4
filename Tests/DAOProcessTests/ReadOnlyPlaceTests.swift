import DAOChildProcesses
import DAOTestSupport
import Foundation
import Testing

/// Contract L1: places that can only be read, for a process without root's permissions.
@Suite(.serialized, .timeLimit(.minutes(30))) struct ReadOnlyPlaceTests {
    private static var isRoot: Bool { getuid() == 0 }
    private static let canChangeUser = !isRoot || FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

    /// A child that may read the place and not write it.
    private func reader(_ place: Place, _ options: String) throws -> Child {
        let command = [Process.built("dao-child").path, "serve", place.url(options)]
        if Self.isRoot {
            return try Child(URL(fileURLWithPath: "/usr/bin/setpriv"), ["--reuid=65534", "--clear-groups"] + command)
        }
        return try Child(URL(fileURLWithPath: "/usr/bin/env"), command)
    }

    private func lock(_ place: Place, _ isLocked: Bool) {
        // Root may write it all the same.
        chmod(place.directory.path, isLocked ? 0o555 : 0o755)
    }

    @Test(.enabled(if: canChangeUser), arguments: Place.Kind.allCases, ["", "create=false", "readOnly=true"])
    func directoryWithoutPermissionCanBeRead(_ kind: Place.Kind, _ options: String) async throws {
        try await onThread {
            let place = Place(kind)
            let ledger = try Ledger(place.url())
            try ledger.increment()
            try ledger.database.close()
            lock(place, true)
            defer { lock(place, false) }
            let before = try FileManager.default.contentsOfDirectory(atPath: place.directory.path).sorted()
            let child = try reader(place, options)
            try child.expect("open")
            #expect(try child.ask("count") == "1")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory.path).sorted() == before)
            try child.say("add")
            let refusal = try child.line() ?? ""
            #expect(refusal.hasPrefix("error readOnly "), "\(refusal)")
        }
    }

    /// A writer with more permissions is read as soon as it commits, and reads never see half of its commits.
    @Test(.enabled(if: isRoot && canChangeUser, "another user has to write"), arguments: Place.Kind.allCases)
    func writerWithMorePermissionsIsSeen(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            var ledger = try Ledger(place.url())
            try ledger.increment()
            try ledger.database.close()
            let child = try reader(place, "")
            try child.expect("open")
            #expect(try child.ask("count") == "1")
            for round in 0..<3 {
                ledger = try Ledger(place.url())
                for _ in 0..<10 {
                    try ledger.increment()
                    #expect(try child.ask("count") == "\(try ledger.count())")
                }
                try ledger.database.close()
                #expect(try child.ask("count") == "\(11 + 10 * round)")
            }
        }
    }

    @Test(.enabled(if: canMount, "mounting needs root"), arguments: Place.Kind.allCases)
    func readOnlyFileSystemCanBeRead(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let ledger = try Ledger(place.url())
            try ledger.increment()
            try ledger.database.close()
            let mount = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\""
            let child = try Child(
                URL(fileURLWithPath: "/usr/bin/unshare"),
                ["--mount", "sh", "-c", mount, place.directory.path, Process.built("dao-child").path, "serve", place.url()])
            try child.expect("open")
            #expect(try child.ask("count") == "1")
            try child.say("add")
            let refusal = try child.line() ?? ""
            #expect(refusal.hasPrefix("error readOnly "), "\(refusal)")
        }
    }

    private static let canMount: Bool = {
        guard isRoot, FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare") else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["--mount", "mount", "--bind", "/tmp", "/tmp"]
        process.standardError = FileHandle.nullDevice
        try? process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
