import DAOConformance
import DAOCore
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import DAOTestSupport

// The conformance suite from the command line; `swift package conformance` runs it. A server is only asked when its URL is given.

await ConformanceProgram.run(
    [.memory, .lmdb, .postgres] + DatabaseDriver.sqlite.encryptingToo, urls: ["memory:", "sqlite:", "lmdb:"],
    dropSchema: PostgresDatabase.dropSchema)
