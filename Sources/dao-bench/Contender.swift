import DAOCore
import Foundation

/// An implementation of the measured work.
struct Contender {
    let name: String
    /// Stores all messages into an empty database, in one transaction.
    let insert: ([Message]) throws -> Void
    let fetchAll: () throws -> [Message]
    let read: (Int) throws -> Message?
    /// The newest messages of a sender.
    let newest: (Int, Int) throws -> [Message]
    let merge: ([Receipt]) throws -> Void
    /// Stores all dialogs with their replies into an empty database, in one transaction; nil without a
    /// counterpart to compare with.
    var insertDialogs: (([Dialog]) throws -> Void)?
    var fetchDialogs: (() throws -> [Dialog])?
    /// The first dialogs with a reply of one of the first senders, without their replies; nil without a counterpart.
    var dialogsWithReply: ((Int, Int) throws -> [Dialog])?
    /// The number of all of them.
    var countWithReply: ((Int) throws -> Int)?
    /// The first dialogs with a number of replies, or more, without their replies.
    var dialogsByCount: ((Int, Int) throws -> [Dialog])?
    /// Begins observations, each of the newest messages of a different sender, and waits until all have their
    /// first results; nil for an implementation without observations.
    var observe: ((Int) throws -> Onlookers)?
    /// Checkpoints the logs, so that the next measurement does not include their cost.
    let settle: () throws -> Void
    /// Releases all resources, including files.
    let dispose: () -> Void
}

extension Contender {
    /// A DAO on the database at a URL. Every call is written as in an application.
    static func dao(
        _ name: String, _ url: String, _ drivers: DatabaseDrivers, settle: @escaping () throws -> Void,
        dispose: @escaping () -> Void
    )
        throws -> Contender
    {
        let database = try drivers.open(url)
        let storage = try database.storage(for: Message.self)
        let messages = DAO(storage: storage)
        let dialogs = DAO(storage: try database.storage(for: Dialog.self))
        let receipts = DAO(storage: storage, translator: ReceiptTranslator())
        return Contender(
            name: name,
            insert: { try messages.create($0) },
            fetchAll: { try messages.read() },
            read: { try messages.read(byPrimaryKey: $0) },
            newest: { sender, limit in try messages.read(orderedBy: .descending(\.date), limit: limit) { $0.senderId == sender }
            },
            merge: { try receipts.persist($0) },
            insertDialogs: { try dialogs.create($0) },
            fetchDialogs: { try dialogs.read() },
            dialogsWithReply: { sender, limit in
                let isWanted = Condition<Dialog> { $0.replies.contains { $0.senderId < sender } }
                return try dialogs.storage.read(Query(where: isWanted, limit: limit, includesSubentities: false))
            },
            countWithReply: { sender in try dialogs.count { $0.replies.contains { $0.senderId < sender } } },
            dialogsByCount: { count, limit in
                let isWanted = Condition<Dialog> { $0.replies.count >= count }
                return try dialogs.storage.read(Query(where: isWanted, limit: limit, includesSubentities: false))
            },
            observe: { count in
                Onlookers(
                    (0..<count).map { sender in
                        messages.observe(orderedBy: .descending(\.date), limit: 50) { $0.senderId == sender }
                    })
            },
            settle: settle,
            dispose: {
                try? database.close()
                dispose()
            })
    }

    static func rawSQLite(_ path: String) throws -> Contender {
        let raw = try RawSQLite(path: path)
        try raw.createTable()
        try raw.createDialogTables()
        return Contender(
            name: "raw SQLite", insert: raw.insert, fetchAll: raw.fetchAll, read: raw.read,
            newest: { try raw.newest(of: $0, limit: $1) },
            merge: raw.merge, insertDialogs: raw.insert, fetchDialogs: raw.fetchDialogs,
            dialogsWithReply: { try raw.dialogs(repliedBy: $0, limit: $1) }, countWithReply: raw.countDialogs,
            dialogsByCount: { try raw.dialogs(withReplies: $0, limit: $1) }, settle: raw.checkpoint, dispose: {})
    }

    static func rawLMDB(_ path: String) throws -> Contender {
        let raw = try RawLMDB(path: path)
        try raw.createDialogTrees()
        return Contender(
            name: "raw LMDB", insert: raw.insert, fetchAll: raw.fetchAll, read: raw.read,
            newest: { try raw.newest(of: $0, limit: $1) },
            merge: raw.merge, insertDialogs: raw.insert, fetchDialogs: raw.fetchDialogs, settle: {}, dispose: {})
    }

    static func rawPostgres(_ server: PostgresServer, schema: String) throws -> Contender {
        let raw = try RawPostgres(server.url, schema: schema)
        return Contender(
            name: "raw libpq", insert: raw.insert, fetchAll: raw.fetchAll, read: raw.read,
            newest: { try raw.newest(of: $0, limit: $1) },
            merge: raw.merge, insertDialogs: raw.insert, fetchDialogs: raw.fetchDialogs,
            dialogsWithReply: { try raw.dialogs(repliedBy: $0, limit: $1) }, countWithReply: raw.countDialogs,
            dialogsByCount: { try raw.dialogs(withReplies: $0, limit: $1) }, settle: { try server.settle(schema) },
            dispose: { server.drop(schema) })
    }

    static func dictionary() -> Contender {
        let raw = RawDictionary()
        return Contender(
            name: "Dictionary", insert: raw.insert, fetchAll: raw.fetchAll, read: raw.read,
            newest: { raw.newest(of: $0, limit: $1) },
            merge: raw.merge, settle: {}, dispose: {})
    }
}
