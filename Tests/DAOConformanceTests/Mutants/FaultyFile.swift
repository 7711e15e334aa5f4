import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation

@testable import DAOConformance
@testable import DAOCore

/// A database in a file with one planted fault of how it is opened, copied or reported: SQLite, whose rows are as they should be.
final class FaultyFile: Database {
    private let base: SQLiteDatabase
    private let fault: Fault
    private let asked: DatabaseConfiguration
    private let leftOpen = Lock<FileHandle?>(nil)
    /// The instruments of all databases on a file, by its path.
    private static let instruments = Lock<[String: [Instrument]]>([:])
    /// The keys that files were opened with, by their paths.
    private static let keys = Lock<[String: Encryption]>([:])

    init(_ asked: DatabaseConfiguration, _ fault: Fault) throws {
        (self.fault, self.asked) = (fault, asked)
        let configuration = try Self.changed(asked, fault)
        do {
            base = try SQLiteDatabase(configuration)
        } catch let error as StorageError {
            switch fault {
            case .replacesStrangers where error.kind == .notADatabase, .emptiesDamaged where error.kind == .corrupted:
                try FileManager.default.removeItem(atPath: configuration.path)
                base = try SQLiteDatabase(configuration)
            case .wrongKeysAreStrangers where error.kind == .notPermitted:
                throw StorageError.notADatabase(asked.path, "another file")
            case .errorsNameNoPath:
                var error = error
                error.path = nil
                throw error
            default: throw error
            }
        }
    }

    /// Returns the kind of database with a fault.
    static func target(_ fault: Fault) -> ConformanceTarget {
        // The options that a case expects to be refused.
        let options = ["no-such-option", "key", "password", "API-Key", "%74oken", "clientSecret"]
        let known = DatabaseDriver.sqlite.optionNames
        let driver = DatabaseDriver(
            scheme: "sqlite", optionNames: fault.takesEveryOption ? known.union(options) : known, encrypts: true,
            hasPositions: fault == .takesAnyPosition
        ) { try FaultyFile($0, fault) }
        let target = ConformanceTarget(name: fault.rawValue, driver: driver) { file(at: $0) }
        // Other processes have no fault.
        return target.withProcesses { location in
            try ChildProcess(Process.built("dao-conformance"), ["--serve", "sqlite://\(file(at: location))"])
        }
    }

    private static func file(at location: ConformanceTarget.Location) -> String {
        location.directory.appendingPathComponent("test.db").path
    }

    /// Returns the configuration that the database is opened with.
    private static func changed(_ asked: DatabaseConfiguration, _ fault: Fault) throws -> DatabaseConfiguration {
        var configuration = asked
        switch fault {
        case .createsRegardless: configuration.createsIfMissing = true
        case .writesReadOnly: configuration.isReadOnly = false
        case .ignoresUnknownOptions, .ignoresEncryptionKeys:
            configuration.options = configuration.options.filter { DatabaseDriver.sqlite.optionNames.contains($0.key) }
        case .showsSecrets:
            if let (name, value) = configuration.options.first {
                throw StorageError(.invalidConfiguration, "there is no option \(name)=\(value)", path: asked.path)
            }
        case .readsDamagedPages:
            let isNew = !FileManager.default.fileExists(atPath: asked.path)
            configuration.options["checksums"] = isNew ? "true" : "false"
        case .spellingsAreApart:
            let url = URL(fileURLWithPath: asked.path)
            if url.standardizedFileURL.resolvingSymlinksInPath().path != asked.path { configuration.path += "-spelled" }
        case .keysAreIgnored: configuration.encryption = nil
        case .keysAreShared:
            // As if who opens an open database needed none.
            configuration.encryption = keys.withLock { keys in
                if keys[asked.path] == nil { keys[asked.path] = asked.encryption }
                return keys[asked.path]
            }
        case .instrumentsHearNothing: configuration.instrument = nil
        case .instrumentsHearTwice:
            configuration.instrument = asked.instrument.map { told in
                Instrument { call in for _ in 1...2 { told.report(call) } }
            }
        case .instrumentsMissWaits:
            configuration.instrument = asked.instrument.map { told in
                Instrument { call in
                    var call = call
                    call.waited = .zero
                    told.report(call)
                }
            }
        case .instrumentsHearOthers:
            if let told = asked.instrument { instruments.withLock { $0[asked.path, default: []].append(told) } }
            configuration.instrument = Instrument { call in
                for each in instruments.withLock({ $0[asked.path] ?? [] }) { each.report(call) }
            }
        default: break
        }
        return configuration
    }

    var configuration: DatabaseConfiguration {
        var configuration = base.configuration
        if fault == .pathsStayRelative { configuration.path = asked.path }
        return configuration
    }
    var engineState: EngineState { base.engineState }

    var capabilities: Capabilities {
        var capabilities = base.capabilities
        if fault == .readsDamagedPages { capabilities.hasChecksums = true }
        return capabilities
    }

    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        if fault == .startsOnAnOldCatalog {
            // What is decided by a catalog that was read outside of the transaction.
            let seen = try base.entities()
            Thread.sleep(forTimeInterval: 0.05)
            if try base.entities() != seen {
                throw StorageError(.schemaMismatch, "the entity is another one", entity: Record.schema.description.name)
            }
        }
        return try base.makeStorage(for: model)
    }
    func makeLinks(for relation: RelationDescription) throws -> any LinkStorage { try base.makeLinks(for: relation) }
    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try base.runTransaction(body)
        } catch let error as StorageError where error.kind == .busy && fault == .busyComesLate {
            Thread.sleep(forTimeInterval: 3.1)
            throw error
        }
    }
    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result { try base.runSnapshot(body) }
    func runReads<Result>(_ body: () throws -> Result) throws -> Result { try base.runReads(body) }
    func runStep<Result>(_ body: () throws -> Result) throws -> Result { try base.runStep(body) }
    func catalogVersion() throws -> UInt64 { try base.catalogVersion() }
    func entities() throws -> [EntityDescription] { try base.entities() }
    func runCompaction() throws -> CompactionReport {
        if fault == .compactionHoldsWriters { try base.transaction { Thread.sleep(forTimeInterval: 1.5) } }
        return try base.runCompaction()
    }
    func runSuspension() throws {
        do {
            try base.runSuspension()
        } catch let error as StorageError where error.kind == .busy && fault == .suspensionIgnoresStreams {}
    }

    func close() throws {
        try base.close()
        if fault == .closedFilesStayOpen { leftOpen.withLock { $0 = FileHandle(forReadingAtPath: configuration.path) } }
    }

    func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result {
        try base.withEntityStore(access, body)
    }

    func runBackup(to path: String, onProgress: (BackupProgress) throws -> Void) throws {
        if fault == .backupsReplaceAnything { try? FileManager.default.removeItem(atPath: path) }
        let place = TemporaryFile.path(beside: URL(fileURLWithPath: path).resolvingSymlinksInPath().path, as: "backup")
        let left = fault == .backupsIntoAnyFile ? FileHandle(forUpdatingAtPath: place) : nil
        do {
            try base.runBackup(to: path, onProgress: onProgress)
        } catch let error as StorageError where error.kind == .invalidConfiguration && fault == .backupsReplaceOthers {
            if path != configuration.path { try FileManager.default.removeItem(atPath: path) }
            try base.runBackup(to: path, onProgress: onProgress)
        }
        if let left {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            _ = bytes.withUnsafeBytes { pwrite(left.fileDescriptor, $0.baseAddress, $0.count, 0) }
        }
        if fault == .backupsLoseTheirKey {
            var copied = configuration
            copied.path = path
            try SQLiteDatabase.reencrypt(copied, with: nil)
        }
        if fault == .backupsLoseARow { try loseARow(of: path) }
    }

    private func loseARow(of path: String) throws {
        let copy = try SQLiteDatabase(path: path)
        try copy.loseLastRows()
        try copy.close()
    }
}
