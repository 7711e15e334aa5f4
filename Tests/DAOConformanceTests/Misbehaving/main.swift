import DAOConformance
import DAOCore
import DAOExamples
import DAOMemory
import Foundation

// A database in memory with storages that end the process, or stop it: what a storage may do that is not finished.

/// A database that makes no storage of some entities.
final class MisbehavingDatabase: Database {
    private let base: any Database

    init(_ configuration: DatabaseConfiguration) throws {
        base = try DatabaseDriver.memory.open(configuration)
        print("a storage prints what it likes")
    }

    var configuration: DatabaseConfiguration { base.configuration }
    var capabilities: Capabilities { base.capabilities }
    var engineState: EngineState { base.engineState }

    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        switch Record.schema.description.name {
        case "letter": _ = [Int]()[Record.schema.description.fields.count]
        case "shelved": exit(3)
        case "ring": kill(getpid(), SIGSTOP)
        default: break
        }
        return try base.makeStorage(for: model)
    }

    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result { try base.runTransaction(body) }
    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result { try base.runSnapshot(body) }
    func entities() throws -> [EntityDescription] { try base.entities() }
    func close() throws { try base.close() }
}

await ConformanceProgram.run(
    DatabaseDriver(scheme: "misbehaving") { try MisbehavingDatabase($0) }, DatabaseDriver(scheme: "unopened") { _ in exit(4) },
    .jsonfile)
