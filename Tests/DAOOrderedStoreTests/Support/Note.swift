import DAOCore
import DAOLMDB
import DAOTestSupport

/// A model of tests that need a database on LMDB.
struct Note: Plain, Model, Equatable {
    var id: Int
    var text: String
    static let schema = Schema("note", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))

    /// Opens a new database with three notes.
    static func opened(
        in place: Place, _ parameters: String = ""
    ) throws -> (database: any Database, notes: DAO<Note>) {
        let database = try DatabaseDriver.lmdb.open(
            DatabaseConfiguration(url: "lmdb:\(place.path("notes.lmdb"))?durability=relaxed\(parameters)"))
        let notes = DAO(storage: try database.storage(for: Note.self))
        try notes.create((1...3).map { Note(id: $0, text: "text \($0)") })
        return (database, notes)
    }
}
