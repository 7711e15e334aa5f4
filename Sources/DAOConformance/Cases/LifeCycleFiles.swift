import DAOCore
import Foundation

/// L8: files that are moved, removed or replaced while they are open.
enum LifeCycleFiles {
    static let cases: [ConformanceCase] = [
        ConformanceCase("L.fileMoved", "L8", title: "a write after the file was moved is detached; the file keeps every commit") {
            context in
            let (file, manager) = (try context.file(), FileManager.default)
            let moved = file.appendingPathExtension("moved")
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make([1, 2]))
            try manager.moveItem(at: file, to: moved)
            try expectDetached(database, dao, file, rows: [1, 2])
            let (fresh, items) = try context.open(with: Item.self)
            try expectEqual(try items.count(), 0, "the rows of a new file at the path")
            try items.create(Item(id: 9, name: "nine"))
            try fresh.close()
            try manager.removeItem(at: file)
            try manager.moveItem(at: moved, to: file)
            try expectEqual(try context.dao(Item.self).read().map(\.id), [1, 2])
        },
        ConformanceCase("L.fileRemoved", "L8", title: "a write after the file was removed is detached; a new file is empty") {
            context in
            let file = try context.file()
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make([1, 2]))
            try FileManager.default.removeItem(at: file)
            try expectDetached(database, dao, file, rows: [1, 2])
            let items = try context.dao(Item.self)
            try expectEqual(try items.count(), 0)
            try items.create(Item(id: 3, name: "three"))
            try expectEqual(try items.read().map(\.id), [3])
        },
        ConformanceCase("L.fileReplaced", "L8", title: "a backup that replaces the open file is what a new opener finds") {
            context in
            let (file, manager) = (try context.file(), FileManager.default)
            let backup = file.appendingPathExtension("backup")
            var (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make([1, 2]))
            try database.close()
            try manager.copyItem(at: file, to: backup)
            (database, dao) = try context.open(with: Item.self)
            // More than the backup's pages have room for.
            try dao.create(Item.make(Array(3...500)))
            try manager.removeItem(at: file)
            try manager.moveItem(at: backup, to: file)
            do {
                let (early, items) = try context.open(with: Item.self)
                try expectEqual(try items.read().map(\.id), [1, 2], "the rows beside a database that has the old file open")
                try early.close()
            } catch let error as StorageError where error.kind == .busy {
                // The log that is left still belongs to the open file.
            }
            try expectDetached(database, dao, file, rows: Array(1...500))
            (database, dao) = try context.open(with: Item.self)
            try expectEqual(try dao.read().map(\.id), [1, 2])
            try dao.create(Item(id: 3, name: "three"))
            try expectEqual(try context.reopen(database).dao(Item.self).read().map(\.id), [1, 2, 3])
        },
        ConformanceCase(
            "L.detachedStays", "L8", title: "writes stay detached when the file has its name back"
        ) { context in
            let (file, manager) = (try context.file(), FileManager.default)
            let folder = file.deletingLastPathComponent()
            let moved = folder.appendingPathExtension("moved")
            let (database, dao) = try context.open(with: Item.self)
            let (second, items) = try context.open(with: Item.self)
            try dao.create(Item.make([1, 2]))
            try manager.moveItem(at: folder, to: moved)
            try expectError(.detached, "a write", path: file.path) { try dao.create(Item(id: 1000, name: "late")) }
            try manager.moveItem(at: moved, to: folder)
            try expectError(.detached, "a write through another handle", path: file.path) {
                try items.create(Item(id: 1001, name: "later"))
            }
            try second.close()
            try expectDetached(database, dao, file, rows: [1, 2])
            let (fresh, later) = try context.open(with: Item.self)
            try later.create(Item(id: 3, name: "three"))
            try expectEqual(try later.read().map(\.id), [1, 2, 3])
            try fresh.close()
        },
    ].requiring(.file)

    /// Expects that writes are detached, that reads give the rows or are detached, and closes the database.
    private static func expectDetached(
        _ database: any Database, _ dao: DAO<Item>, _ file: URL, rows: [Int]
    ) throws {
        try expectError(.detached, "a write", path: file.path) { try dao.create(Item(id: 1000, name: "late")) }
        try expectError(.detached, "a second write", path: file.path) { try dao.create(Item.make([1001, 1002])) }
        try expectError(.detached, "a transaction", path: file.path) { try database.transaction { try dao.erase() } }
        do {
            try expectEqual(try dao.read().map(\.id), rows, "the rows of the file that is open")
        } catch let error as StorageError where error.kind == .detached {}
        try database.close()
    }
}
