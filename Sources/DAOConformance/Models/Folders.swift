import DAOCore

/// The stored record of a folder. Its color is local: no plain has it.
struct FolderModel: Model, Equatable {
    var id: Int
    var title: String
    var color: String?

    static let schema = Schema(
        "folder", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .indexed), Field("color", \.color))
}

/// The stored record of a page: its folder, and a serial number that only the store has.
struct PageModel: Model, Equatable {
    var id: Int
    var folder: Int
    var text: String
    var serial: Int

    static let schema = Schema(
        "page", Self.init,
        Field("id", \.id, .primaryKey), Field("folder", \.folder, .indexed), Field("text", \.text), Field("serial", \.serial))
}

/// A page as the application sees it.
struct PagePlain: Plain, Equatable {
    var id: Int
    var folder: Int
    var text: String
    var uniqueId: UniqueID { UniqueID(id) }
}

/// A folder as the application sees it, with its pages in the order of their ids.
struct FolderPlain: Plain, Equatable {
    var id: Int
    var title: String
    var pages: [PagePlain] = []
    var uniqueId: UniqueID { UniqueID(id) }

    /// Returns folders with pages numbered from ten times their ids.
    static func make(_ ids: some Sequence<Int>, pages: Int, title: String = "folder") -> [FolderPlain] {
        ids.map { id in
            FolderPlain(
                id: id, title: "\(title) \(id)",
                pages: (0..<pages).map { PagePlain(id: id * 10 + $0, folder: id, text: "\(title) \(id).\($0)") })
        }
    }
}

/// Gives every new page a serial number. It reads and increments the number through the storage of a counter.
struct PageTranslator: Translator {
    let counters: any Storage<Counter>

    func translate(model: PageModel) throws -> PagePlain { PagePlain(id: model.id, folder: model.folder, text: model.text) }
    func translate(plain: PagePlain) throws -> PageModel {
        if plain.text == "poison" { throw DeliberateError(number: plain.id) }
        var counter = try counters.read(key: .integer(0)) ?? Counter(id: 0, value: 0)
        counter.value &+= 1
        try counters.upsert([counter])
        return PageModel(id: plain.id, folder: plain.folder, text: plain.text, serial: counter.value)
    }
    func translate(from plain: PagePlain, to model: inout PageModel) throws {
        if plain.text == "poison" { throw DeliberateError(number: plain.id) }
        model.folder = plain.folder
        model.text = plain.text
    }
}

/// Stores the pages of a folder through their DAO, whose translator looks up rows. Pages that are not given
/// are erased.
struct FolderTranslator: Translator {
    let pages: DAO<PageTranslator>

    /// Creates the translator for a database.
    init(_ database: any Database) throws {
        pages = DAO(
            storage: try database.storage(for: PageModel.self),
            translator: PageTranslator(counters: try database.storage(for: Counter.self)))
    }

    func translate(model: FolderModel) throws -> FolderPlain {
        FolderPlain(id: model.id, title: model.title, pages: try pages.read { $0.folder == model.id })
    }
    func translate(plain: FolderPlain) throws -> FolderModel {
        try store(plain)
        return FolderModel(id: plain.id, title: plain.title, color: nil)
    }
    func translate(from plain: FolderPlain, to model: inout FolderModel) throws {
        try store(plain)
        model.title = plain.title
    }
    private func store(_ plain: FolderPlain) throws {
        try pages.erase { $0.folder == plain.id && !$0.id.in(plain.pages.map(\.id)) }
        try pages.persist(plain.pages)
    }
}

extension Database {
    /// Returns the DAO of folders.
    func folders() throws -> DAO<FolderTranslator> {
        DAO(storage: try storage(for: FolderModel.self), translator: try FolderTranslator(self))
    }
}
