import DAOCore
import Foundation

/// An implementation of the measured work.
struct Contender<Record: MeasuredRecord> {
    let name: String
    /// Stores all records into an empty database, in one transaction.
    let insert: ([Record]) throws -> Void
    let fetchAll: () throws -> [Record]
    let read: (Int) throws -> Record?
    /// Reads rows by their keys in one transaction.
    let readInside: ([Int], (Record) -> Void) throws -> Void
    /// The newest records of a sender.
    let newest: (Int, Int) throws -> [Record]
    /// The records in a span of time, in the order of their dates; nil without a counterpart to compare with.
    var within: ((Range<Date>) throws -> [Record])?
    /// The number of records with a greater rating, of which there is no index; nil without a counterpart.
    var countAbove: ((Double) throws -> Int)?
    /// The number of records of a sender; nil without a counterpart.
    var count: ((Int) throws -> Int)?
    let merge: ([Receipt]) throws -> Void
    /// Stores records that are there, whatever has changed in them, in one transaction; nil without a counterpart.
    var upsert: (([Record]) throws -> Void)?
    /// Erases rows by their keys, in one transaction; nil without a counterpart.
    var erase: (([Int]) throws -> Void)?
    /// Makes what reads rows by their keys on another thread; nil for an implementation for one thread.
    var makeReader: (() throws -> (Int) throws -> Record?)?
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
        let storage = try database.storage(for: Record.self)
        let records = DAO(storage: storage)
        let dialogs = DAO(storage: try database.storage(for: Dialog.self))
        let receipts = DAO(storage: storage, translator: Record.receipts)
        return Contender(
            name: name,
            insert: { try records.create($0) },
            fetchAll: { try records.read() },
            read: { try records.read(byPrimaryKey: $0) },
            readInside: { ids, body in
                try database.snapshot { for id in ids { if let record = try records.read(byPrimaryKey: id) { body(record) } } }
            },
            newest: { sender, limit in
                try records.read(orderedBy: .descending(Record.dateField), limit: limit) {
                    $0[dynamicMember: Record.senderField] == sender
                }
            },
            within: { span in
                try records.read(orderedBy: .ascending(Record.dateField)) {
                    let date = $0[dynamicMember: Record.dateField]
                    return date >= span.lowerBound && date < span.upperBound
                }
            },
            countAbove: { rating in try records.count { $0[dynamicMember: Record.ratingField] > rating } },
            count: { sender in try records.count { $0[dynamicMember: Record.senderField] == sender } },
            merge: { try receipts.persist($0) }, upsert: { try records.persist($0) },
            erase: { try records.erase(byPrimaryKeys: $0) },
            makeReader: { { try records.read(byPrimaryKey: $0) } },
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
                        records.observe(orderedBy: .descending(Record.dateField), limit: 50) {
                            $0[dynamicMember: Record.senderField] == sender
                        }
                    })
            },
            settle: settle,
            dispose: {
                try? database.close()
                dispose()
            })
    }

    static func rawSQLite(_ path: String) throws -> Contender {
        let raw = try RawSQLite<Record>(path: path)
        return Contender(
            name: "raw SQLite", insert: raw.insert, fetchAll: raw.fetchAll, read: raw.read, readInside: raw.readInside,
            newest: { try raw.newest(of: $0, limit: $1) }, within: raw.within, countAbove: raw.count(above:),
            count: raw.count(of:), merge: raw.merge, upsert: raw.upsert, erase: raw.erase,
            makeReader: { try RawSQLite<Record>(path: path).read }, insertDialogs: raw.insert, fetchDialogs: raw.fetchDialogs,
            dialogsWithReply: { try raw.dialogs(repliedBy: $0, limit: $1) }, countWithReply: raw.countDialogs,
            dialogsByCount: { try raw.dialogs(withReplies: $0, limit: $1) }, settle: raw.checkpoint, dispose: {})
    }

    static func rawLMDB(_ path: String) throws -> Contender {
        let raw = try RawLMDB<Record>(path: path)
        return Contender(
            name: "raw LMDB", insert: raw.insert, fetchAll: raw.fetchAll, read: raw.read, readInside: raw.readInside,
            newest: { try raw.newest(of: $0, limit: $1) }, within: raw.within, countAbove: raw.count(above:),
            count: raw.count(of:), merge: raw.merge, upsert: raw.upsert, erase: raw.erase, makeReader: raw.makeReader,
            insertDialogs: raw.insert, fetchDialogs: raw.fetchDialogs, settle: {}, dispose: {})
    }

    static func dictionary() -> Contender {
        let raw = RawDictionary<Record>()
        return Contender(
            name: "Dictionary", insert: raw.insert, fetchAll: raw.fetchAll, read: raw.read, readInside: raw.readInside,
            newest: { raw.newest(of: $0, limit: $1) }, countAbove: raw.count(above:), merge: raw.merge,
            upsert: raw.upsert, erase: raw.erase, settle: {}, dispose: {})
    }
}

extension Contender<Message> {
    static func rawPostgres(_ server: PostgresServer, schema: String) throws -> Contender {
        let raw = try RawPostgres(server.url, schema: schema)
        return Contender(
            name: "raw libpq", insert: raw.insert, fetchAll: raw.fetchAll, read: raw.read,
            readInside: { ids, body in for id in ids { try raw.read(id).map(body) } },
            newest: { try raw.newest(of: $0, limit: $1) },
            merge: raw.merge, insertDialogs: raw.insert, fetchDialogs: raw.fetchDialogs,
            dialogsWithReply: { try raw.dialogs(repliedBy: $0, limit: $1) }, countWithReply: raw.countDialogs,
            dialogsByCount: { try raw.dialogs(withReplies: $0, limit: $1) }, settle: { try server.settle(schema) },
            dispose: { server.drop(schema) })
    }
}
