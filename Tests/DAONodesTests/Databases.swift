import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation

@testable import DAOExamples

/// The kinds of database for the tests of the DAO nodes. The tests depend on nothing else of the backends.
let backends = ["memory:", "sqlite:", "lmdb:"]

/// Runs a test on an empty database and removes it afterwards.
func withDatabase(_ kind: String, _ body: (any Database) async throws -> Void) async throws {
    let place = Place()
    defer { withExtendedLifetime(place) {} }
    let path = kind == "memory:" ? place.directory.lastPathComponent : place.file.path
    let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(kind + path)
    try await body(database)
    try database.close()
}

/// Runs a test on the DAO of dialogs in an empty database.
func withDialogs(_ kind: String, _ body: (any Database, DAO<DialogTranslator>) async throws -> Void) async throws {
    try await withDatabase(kind) { try await body($0, dialogsDAO($0)) }
}

/// All rows of the database of dialogs, local fields included.
func dump(_ dialogs: DAO<DialogTranslator>) throws -> [String] {
    try dialogs.storage.read(Query()).map { "\($0)" } + dialogs.translator.messages.storage.read(Query()).map { "\($0)" }
}

/// A dialog with messages of the given ids.
func dialog(_ id: Int, isPinned: Bool = false, _ messages: [Int] = []) -> Dialog {
    Dialog(
        id: id, isPinned: isPinned,
        messages: messages.enumerated().map { DialogMessage(id: $1, dialog: id, position: $0, text: "text \($1)") })
}

/// Stores dialogs like its base. Calls a closure after the messages of each dialog are stored and before the
/// dialog itself is stored.
struct WatchedTranslator: Translator {
    let base: DialogTranslator
    var willRead: @Sendable (DialogModel) throws -> Void = { _ in }
    var willStore: @Sendable (Dialog) throws -> Void = { _ in }

    func translate(model: DialogModel) throws -> Dialog {
        try willRead(model)
        return try base.translate(model: model)
    }
    func translate(plain: Dialog) throws -> DialogModel {
        let model = try base.translate(plain: plain)
        try willStore(plain)
        return model
    }
    func translate(from plain: Dialog, to model: inout DialogModel) throws {
        try base.translate(from: plain, to: &model)
        try willStore(plain)
    }
}

extension DAO where Mapping == DialogTranslator {
    /// The same DAO with a translator that calls closures.
    func watched(
        willRead: @escaping @Sendable (DialogModel) throws -> Void = { _ in },
        willStore: @escaping @Sendable (Dialog) throws -> Void = { _ in }
    ) -> DAO<WatchedTranslator> {
        DAO<WatchedTranslator>(
            storage: storage, translator: WatchedTranslator(base: translator, willRead: willRead, willStore: willStore))
    }
}

/// Keeps a database's writer busy until it is released.
final class BusyWriter: Sendable {
    private let release = DispatchSemaphore(value: 0)
    private let work: Task<Void, any Error>

    init(_ database: any Database) async throws {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        work = Task { [release] in
            try await database.engineState.executor.write {
                continuation.finish()
                release.wait()
            }
        }
        for await _ in started {}
    }

    func end() async throws {
        release.signal()
        try await work.value
    }
}
