import DAOCore

/// A note below a paper. Papers share notes.
struct PairNote: Plain, Model, Equatable {
    var id: Int
    var text = ""

    static let schema = Schema("pairnote", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .indexed))
}

/// A row that goes with the binder that it refers to, while lists hold it.
struct PairPaper: Plain, Model, Equatable {
    var id: Int
    var binder: Reference<PairBinder>
    var notes: [PairNote] = []

    static let schema = Schema(
        "pairpaper", Self.init,
        Field("id", \.id, .primaryKey), Field("binder", \.binder, .cascade), Field("notes", \.notes, .cascade))
}

/// What papers refer to.
struct PairBinder: Plain, Model, Equatable {
    var id: Int

    static let schema = Schema("pairbinder", Self.init, Field("id", \.id, .primaryKey))
}

/// A list of papers.
struct PairShelf: Plain, Model, Equatable {
    var id: Int
    var papers: [PairPaper] = []

    static let schema = Schema("pairshelf", Self.init, Field("id", \.id, .primaryKey), Field("papers", \.papers, .linked))
}
