import DAOCore
import Foundation

#if SQLite
    import CSQLite
    import DAOSQLite
    let driver = DatabaseDriver.sqlite
#elseif LMDB
    import DAOLMDB
    let driver = DatabaseDriver.lmdb
#else
    import DAOMemory
    let driver = DatabaseDriver.memory
#endif

struct Note: Plain, Model {
    var id: Int
    var text: String

    static let schema = Schema("note", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
}

let directory = FileManager.default.temporaryDirectory.appendingPathComponent("consumer-\(UUID())").path
try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: directory) }
let database = try DatabaseDrivers(driver).open("\(driver.scheme):\(directory)/app.db")
let notes = DAO(storage: try database.storage(for: Note.self))
try notes.persist([Note(id: 1, text: "one"), Note(id: 2, text: "two")])
let found = try notes.read { $0.text == "two" }
precondition(found.map(\.id) == [2])
print("\(driver.scheme): \(try notes.count()) notes")
#if SQLite
    print("CSQLite is SQLite \(String(cString: sqlite3_libversion()))")
#endif
