import DAOCore
import DAOSystemLMDB
import DAOTestSupport
import Foundation
import Testing

@testable import DAOLMDB

/// Contract L1: where LMDB cannot keep the contract, no file is opened, and nothing is created.
@Suite struct LMDBHostTests {
    private let errors = LMDBErrors(path: "p")

    private func refusal(
        _ system: LMDBHost.System, _ major: Int, _ minor: Int, _ patch: Int, isSandboxed: Bool = false
    ) -> StorageError? {
        LMDBHost(system: system, isSandboxed: isSandboxed, version: .init(major: major, minor: minor, patch: patch)).refusal(
            errors)
    }

    @Test func whatKeepsTheContractIsOpened() {
        #expect(refusal(.linux, 0, 9, 24) == nil)
        #expect(refusal(.linux, 0, 9, 99) == nil)
        #expect(refusal(.macOS, 0, 9, 36) == nil)
        #expect(LMDBHost.current.refusal(errors) == nil)
    }

    @Test(arguments: [LMDBHost.System.linux, .macOS, .iOSFamily]) func anotherFileFormatIsNamed(_ system: LMDBHost.System) {
        for (major, minor, patch) in [(0, 10, 0), (1, 0, 0), (1, 0, 2), (2, 0, 0)] {
            let refusal = refusal(system, major, minor, patch)
            #expect(refusal?.kind == .unsupported)
            #expect(refusal?.message.contains("LMDB \(major).\(minor).\(patch) has another file format") == true)
        }
    }

    @Test func aSandboxIsNamed() {
        for refusal in [refusal(.iOSFamily, 0, 9, 36), refusal(.macOS, 0, 9, 36, isSandboxed: true)] {
            #expect(refusal?.kind == .unsupported)
            #expect(refusal?.message.contains("sandbox") == true)
            #expect(refusal?.path == "p")
        }
    }

    @Test func aReleaseThatSyncsTooLittleIsRefusedOnAppleAlone() {
        #expect(refusal(.macOS, 0, 9, 35)?.kind == .unsupported)
        #expect(refusal(.macOS, 0, 9, 35)?.message.contains("cache of the drive") == true)
        #expect(refusal(.linux, 0, 9, 35) == nil)
    }

    @Test func nothingIsCreatedWhereItIsRefused() {
        let place = Place(.lmdb)
        let host = LMDBHost(system: .iOSFamily, isSandboxed: true, version: .init(major: 0, minor: 9, patch: 36))
        #expect(throws: StorageError.self) {
            try EnvironmentOpening.find(
                path: place.file.path, options: LMDBOptions(), errors: LMDBErrors(path: place.file.path), host: host)
        }
        #expect((try? FileManager.default.contentsOfDirectory(atPath: place.directory.path)) == [])
    }

    @Test func semaphoresThatAreUsedUpAreNamedOnAppleAlone() {
        let version = LMDBHost.Version(major: 0, minor: 9, patch: 36)
        let words = "semaphores"
        let onApple = EnvironmentOpening.openingError(ENOSPC, errors, host: LMDBHost(system: .macOS, version: version))
        #expect(onApple.kind == .outOfSpace && onApple.message.contains(words))
        let onLinux = EnvironmentOpening.openingError(ENOSPC, errors, host: LMDBHost(system: .linux, version: version))
        #expect(onLinux.kind == .outOfSpace && !onLinux.message.contains(words))
    }

    /// What a new file has is on the medium before its name leads to it.
    @Test func aNewFileIsDurableBeforeItHasItsName() throws {
        let place = Place(.lmdb)
        let (sync, calls) = FileSync.recording { _ in 0 }
        try FileSync.$current.withValue(sync) { _ = try LMDBStore(path: place.file.path, options: LMDBOptions()) }
        #expect(calls.all == [.fullFsync, .fullFsync])
    }
}
