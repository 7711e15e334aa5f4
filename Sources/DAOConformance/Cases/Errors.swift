import DAOCore

/// L7: the fields and the words of errors, which are the same on every backend.
///
/// The cases of every other rule compare the fields of the errors of that rule.
enum Errors {
    static let cases: [ConformanceCase] = rows + transactions + databases + entities

    private static let rows: [ConformanceCase] = [
        ConformanceCase(
            "L.errorsOfWrites", "L7", "W1", "W6", title: "the error of a refused row has the same words on every backend"
        ) {
            context in
            let dao = try context.dao(Member.self)
            try dao.create(Member(id: 1, email: "a", badge: 1))
            try expectError(
                .duplicateKey, "a stored key", entity: "member", key: 1, field: "id",
                message: "a row of 'member' with this key is stored already or given twice; persist it, or choose another key"
            ) { try dao.create(Member(id: 1, email: "b", badge: 2)) }
            try expectError(
                .uniqueViolation, "a stored value", entity: "member", key: 2, conflictingKey: 1, field: "email",
                message: "another row of 'member' has the same value in the unique field 'email'; "
                    + "choose another value, or change the other row first"
            ) { try dao.create(Member(id: 2, email: "a", badge: 2)) }
        },
        ConformanceCase(
            "L.errorsOfKeys", "L7", "K1", "K3", "K4", title: "the error of a refused key has the same words on every backend"
        ) {
            context in
            let database = try context.open()
            let (items, texts) = (try database.dao(Item.self), try database.dao(KeyedBy<String>.self))
            try items.create(Item.make([1]))
            try expectError(
                .keyChanged, "a changed key", entity: "item", key: 1, field: "id",
                message: "the key of a row of 'item' was changed, and a key never changes; create another row instead"
            ) { try items.update(where: { $0.id == 1 }) { $0.id = 2 } }
            try expectError(
                .invalidKey, "a key of another type", entity: "item", key: "x",
                message: "this key of 'item' is not of type int64; use a key of the type that the model declares"
            ) { try items.read(byPrimaryKey: "x") }
            let long = String(repeating: "k", count: 257)
            let tooLong = "a string key of 'byString' has 257 UTF-8 bytes, more than 256; use a shorter key"
            try expectError(.invalidKey, "a long key", entity: "byString", message: tooLong) {
                try texts.create(KeyedBy(id: long, note: ""))
            }
            try expectError(.invalidKey, "a long key to read", entity: "byString", message: tooLong) {
                try texts.read(byPrimaryKey: long)
            }
        },
        ConformanceCase(
            "L.errorsOfReads", "L7", "V3", "Q3", "Q7",
            title: "the error of a refused read has the same words on every backend"
        ) {
            context in
            let database = try context.open()
            try database.dao(RawDocument.self).create(RawDocument(id: 1, mood: "unheard of", level: 0, text: "t"))
            try expectError(
                .corruptedValue, "an unreadable value", entity: "document", key: 1, field: "mood",
                message: "the stored value cannot be read as string: a raw value that Mood does not know; "
                    + "replace or erase the row"
            ) { try database.dao(Document.self).read() }
            let probes = try database.dao(Probe.self)
            try probes.create([Probe(id: 1, small: 100), Probe(id: 2, small: 28)])
            try expectError(
                .invalidQuery, "a negative limit", entity: "probe", message: "the limit is negative: -1; use zero or more"
            ) { try probes.read(Query(limit: -1)) }
            try expectError(
                .arithmeticOverflow, "a sum", entity: "probe", field: "small",
                message: "the sum of 'small' of 'probe' is beyond the range of Int8; "
                    + "sum fewer rows, or add the values in a wider type"
            ) { try probes.sum(\.small) }
        },
    ]

    private static let transactions: [ConformanceCase] = [
        ConformanceCase(
            "L.errorsOfTransactions", "L7", "T5", "T7",
            title: "the error of a misused transaction has the same words on every backend"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let name = "\(UnknownHandle.self)"
            try database.transaction {
                try expectError(
                    .invalidTransaction, "closing inside",
                    message: "the database cannot be closed inside its own transaction; close it after the transaction"
                ) { try database.close() }
                let child = TransactionsMisuse.inChildTask {
                    try expectError(
                        .invalidTransaction, "another task",
                        message: "the transaction has ended or belongs to another task or thread; "
                            + "do all of its work in its own body"
                    ) { try dao.read() }
                }
                try child.wait(seconds: 20, "the child task")
                let error = try expectError(.unsupported, "an unknown handle") {
                    try database.underlying(as: UnknownHandle.self) { _ in }
                }
                let words = "a database of \(database.capabilities.engine) has no handle of type \(name); "
                try expect(error.message.hasPrefix(words), "'\(words)' at the beginning of '\(error.message)'")
            }
        },
        ConformanceCase(
            "L.errorsOfSnapshots", "L7", "T5",
            title: "the error of a write inside a snapshot has the same words on every backend",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try database.snapshot {
                _ = try expectError(
                    .invalidTransaction, "a write",
                    message: "nothing can be written inside a snapshot; use a transaction instead"
                ) { try dao.create(Item.make([1])) }
            }
        },
    ]

    private static let databases: [ConformanceCase] = [
        ConformanceCase(
            "L.errorsOfClosed", "L7", "L2", title: "the error of a closed database has the same words on every backend"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try database.close()
            try expectError(.closed, "a read", path: context.path, message: "the database is closed; open it again to use it") {
                try dao.read()
            }
        },
        ConformanceCase(
            "L.errorsOfReadOnly", "L7", "L1",
            title: "the error of a write to a read-only database has the same words on every backend",
            requires: [.file, .configuration]
        ) { context in
            let writable = try context.open()
            try writable.dao(Item.self).create(Item.make([1]))
            try writable.close()
            let database = try context.open { $0.isReadOnly = true }
            let dao = try database.dao(Item.self)
            try expectError(
                .readOnly, "a write", path: context.path,
                message:
                    "the database is open for reading only; to write, open it without readOnly=true where the file and its directory may be written"
            ) { try dao.create(Item.make([2])) }
        },
        ConformanceCase(
            "L.errorsOfPaths", "L7", "L1",
            title: "the errors of a missing database and of an empty path have the same words on every backend",
            requires: [.file, .configuration]
        ) { context in
            try expectError(
                .notFound, "a missing file", path: context.path,
                message: "there is no database at the path, and none may be created; "
                    + "check the path, or open it with create=true and without readOnly=true"
            ) { try context.open { $0.createsIfMissing = false } }
            try expectError(
                .invalidConfiguration, "an empty path", path: "",
                message: "the path is empty or names no file; "
                    + "give the path of a file, or use 'memory:' for a database that is not stored"
            ) { try context.open { $0.path = "" } }
        },
        ConformanceCase(
            "L.errorsOfBusy", "L7", "C2",
            title: "the error of a database that another process locks has the same words on every backend",
            requires: [.processes, .configuration, .serialWriters]
        ) { context in
            _ = try ProcessLedger(context.open())
            let process = try context.startProcess()
            try expectEqual(try process.ask("hold"), "holding")
            let hasty = try ProcessLedger(context.open { $0.busyTimeout = .zero })
            try expectError(
                .busy, "a write", path: context.path,
                message: "another writer kept the database locked for longer than the timeout; "
                    + "try again, or open it with a longer timeout"
            ) { try hasty.increment() }
            try expectEqual(try process.ask("rollback"), "ended")
        },
    ]

    private static let entities: [ConformanceCase] = [
        ConformanceCase(
            "L.errorsOfEntities", "L7", "E2", title: "the error of a changed entity has the same words on every backend",
            requires: [.evolution]
        ) { context in
            let (database, _) = try context.databaseOfNotes()
            let old = try database.dao(NoteV1.self)
            try database.transaction {
                _ = try expectError(
                    .invalidTransaction, "a migration inside a transaction",
                    message: "entities cannot be changed inside a transaction or a snapshot; change them before it begins"
                ) { try database.evolve(Evolution(version: 1)) }
            }
            try database.evolve(
                Evolution(version: 1, migrations: [Migration(to: 1) { try $0.dropField("rank", of: "note") }]))
            try expectError(
                .schemaMismatch, "an old storage", entity: "note",
                message: "the stored 'note' was changed by another version of its model; "
                    + "ask the database for the storage again"
            ) { try old.read() }
        }
    ]
}
