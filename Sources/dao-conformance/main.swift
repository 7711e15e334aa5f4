import DAOConformance
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite

// The conformance suite from the command line; `swift package conformance` runs it. A server is only asked when its URL is given.

await ConformanceProgram.run(
    [.memory, .sqlite, .lmdb, .postgres], urls: ["memory:", "sqlite:", "lmdb:"], dropSchema: PostgresDatabase.dropSchema)
