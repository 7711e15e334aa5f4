import DAOCore

/// A model whose lists are sorted in every way: with nil, without case, by conditions.
struct Chore: Numbered {
    var id: Int
    var title: String = ""
    var note: String?
    var dueDate: Int?
    var rank: Int?
    var isDone: Bool = false
    var group: String = ""

    static let schema = Schema(
        "chore", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("note", \.note, .indexed),
        Field("dueDate", \.dueDate, .indexed), Field("rank", \.rank), Field("isDone", \.isDone),
        Field("group", \.group, .indexed),
        indexes: [Index(\.isDone, \.dueDate)])

    /// Chores 1 to a count, with few different values. The texts differ in case, in marks, and in nothing.
    static func make(_ count: Int) -> [Chore] {
        let titles = ["b", "A", "a", "B", "", "Straße", "STRASSE", "é", "E\u{301}", "e", "각", "가", "z"]
        let notes: [String?] = [nil, "x", "X", "", "É", "e\u{301}", nil]
        let dates: [Int?] = [3, nil, 1, 2, nil, 1, .min, .max]
        return (1...count).map { id in
            Chore(
                id: id, title: titles[id * 7 % titles.count], note: notes[id * 5 % notes.count],
                dueDate: dates[id * 3 % dates.count], rank: id % 4 == 0 ? nil : id % 3, isDone: id % 5 < 2,
                group: ["home", "Home", "work"][id % 3])
        }
    }
}
