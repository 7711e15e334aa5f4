import DAOTestSupport
import Foundation
import Testing

@testable import DAOCore

/// Contract T6, L10, L11: which call makes what durable, on systems whose `fsync` leaves content in the cache of the drive too.
@Suite struct FileSyncTests {
    @Test func eachPurposeHasItsCall() {
        let apple = FileSync.recording { _ in 0 }.sync
        let other = FileSync(leavesDriveCache: false) { _, _ in 0 }
        for purpose in FileSync.Purpose.allCases {
            #expect(apple.call(for: purpose) == .fullFsync)
            // The engine has synced its log with a call that waits for the medium.
            #expect(other.call(for: purpose) == (purpose == .commit ? nil : .fsync))
        }
    }

    @Test(arguments: [ENOTSUP, EOPNOTSUPP, ENOTTY, EINVAL]) func aVolumeWithoutTheCallIsSyncedOtherwise(_ code: Int32) {
        let (sync, calls) = FileSync.recording { $0 == .fullFsync ? code : 0 }
        #expect(sync.sync(1, for: .commit) == 0)
        #expect(calls.all == [.fullFsync, .fsync])
    }

    @Test func aFailureIsNotForgotten() {
        let (sync, calls) = FileSync.recording { $0 == .fullFsync ? EIO : 0 }
        #expect(sync.sync(1, for: .replacement) == EIO)
        #expect(calls.all == [.fullFsync])
    }

    @Test func aFileIsDurableBeforeItReplacesAnother() throws {
        let place = Place()
        let path = place.file.path
        try Data("old".utf8).write(to: place.file)
        let contents = Lock<[String]>([])
        let (sync, calls) = FileSync.recording { call in
            contents.withLock { $0.append((try? String(contentsOfFile: path, encoding: .utf8)) ?? "none") }
            return 0
        }
        try FileSync.$current.withValue(sync) {
            let file = try TemporaryFile(beside: path, reporting: path, as: "backup")
            #expect(write(file.descriptor, "new", 3) == 3)
            try file.sync(mode: 0o600)
            try file.replaceTarget()
        }
        #expect(calls.all == [.fullFsync, .fullFsync])
        #expect(contents.withLock { $0 } == ["old", "new"], "the file, then the directory")
    }

    @Test func aFileThatIsNotDurableReplacesNothing() throws {
        let place = Place()
        try Data("old".utf8).write(to: place.file)
        let (sync, _) = FileSync.recording { _ in EIO }
        try FileSync.$current.withValue(sync) {
            let file = try TemporaryFile(beside: place.file.path, reporting: place.file.path, as: "backup")
            #expect(throws: StorageError.self) { try file.sync(mode: 0o600) }
        }
        #expect(try String(contentsOf: place.file, encoding: .utf8) == "old")
    }

    /// Engines lock bytes of the file of their backup, and Apple's systems let a lock of the whole file stand in the way of that.
    @Test func theLockOfATemporaryFileIsInNobodysWay() throws {
        let place = Place()
        let file = try TemporaryFile(beside: place.file.path, reporting: place.file.path, as: "backup")
        let other = open(file.path, O_RDWR)
        defer { close(other) }
        for range in [0..<1, 1 << 30..<1 << 30 + 600] {
            #expect(!OpenFileLock.isHeldElsewhere(other, in: range))
        }
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        #expect(throws: StorageError.self) {
            try TemporaryFile(beside: place.file.path, reporting: place.file.path, as: "backup")
        }
    }

    @Test func descriptorsAreFoundWhereTheSystemDoesNotListThem() throws {
        let place = Place()
        try Data().write(to: place.file)
        let descriptor = open(place.file.path, O_RDONLY)
        defer { close(descriptor) }
        let identity = try #require(FileIdentity(place.file.path))
        #expect(FileIdentity.descriptors(of: [identity]) == [descriptor])
        #expect(FileIdentity.descriptors(of: [identity], listedIn: "/there/is/none") == [descriptor])
    }

    @Test func programsAreFoundBesideABundleAndBesideAProgram() {
        let inside = URL(fileURLWithPath: "/build/debug/PackageTests.xctest/Contents/MacOS/PackageTests")
        #expect(Process.products(of: inside).path == "/build/debug")
        #expect(Process.products(of: URL(fileURLWithPath: "/build/debug/PackageTests.xctest")).path == "/build/debug")
        #expect(Process.products(of: URL(fileURLWithPath: "/build/debug/dao")).path == "/build/debug")
    }
}
