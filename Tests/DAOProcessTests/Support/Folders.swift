import DAOCore

/// A row of a list.
public struct Note: Plain, Model, Equatable {
    /// The id of the row.
    public var id: Int
    /// The text of the row.
    public var text: String

    /// Creates a row.
    public init(id: Int, text: String) {
        (self.id, self.text) = (id, text)
    }

    /// The declaration of the model.
    public static let schema = Schema("note", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .unique)).logged(
        values: true)
}

/// A row with a list of rows.
public struct Folder: Plain, Model, Equatable {
    /// The id of the row.
    public var id: Int
    /// The rows of the list.
    public var notes: [Note]

    /// Creates a row.
    public init(id: Int, notes: [Note]) {
        (self.id, self.notes) = (id, notes)
    }

    /// The declaration of the model.
    public static let schema = Schema(
        "folder", Self.init, Field("id", \.id, .primaryKey), Field("notes", \.notes, .cascade)
    ).logged(values: true)

    /// Returns the rows that must be stored after a number of transactions.
    ///
    /// A transaction stores one of five rows again, with another list.
    public static func expected(after count: Int) -> [Folder] {
        (max(1, count - 4)..<count + 1).map(made(by:)).sorted { $0.id < $1.id }
    }

    /// Returns the row that a transaction stores.
    public static func made(by transaction: Int) -> Folder {
        let first = transaction % 5 * 10
        return Folder(
            id: transaction % 5,
            notes: (0..<transaction % 4).map { Note(id: first + $0, text: "\(first + $0) of \(transaction)") })
    }
}

/// The first version of an entity that changes.
public struct Label: Plain, Model, Equatable {
    /// The id of the row.
    public var id: Int
    /// The text of the row.
    public var text: String

    /// Creates a row.
    public init(id: Int, text: String) {
        (self.id, self.text) = (id, text)
    }

    /// The declaration of the model.
    public static let schema = Schema("label", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))

    /// All rows.
    public static let all = (0..<60).map { Label(id: $0, text: "label \($0)") }
}

/// The second version of the entity: its texts are longer, the field has another name, and there is an indexed field.
public struct TitledLabel: Plain, Model, Equatable {
    /// The id of the row.
    public var id: Int
    /// The text of the row.
    public var title: String
    /// The same for all rows.
    public var color: String

    /// Creates a row.
    public init(id: Int, title: String, color: String) {
        (self.id, self.title, self.color) = (id, title, color)
    }

    /// The declaration of the model.
    public static let schema = Schema(
        "label", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .renamed(from: "text"), .indexed),
        Field("color", \.color, .default("red"), .indexed))

    /// All rows.
    public static let all = Label.all.map { TitledLabel(id: $0.id, title: "\($0.text) again", color: "red") }

    /// The evolution from the first version.
    public static let evolution = Evolution(
        version: 1,
        migrations: [
            Migration(to: 1) { step in
                try step.forEachRow(of: "label") { row in
                    if case .string(let text) = row["text"] { row["text"] = .string("\(text) again") }
                }
            }
        ], models: [TitledLabel.self])
}
