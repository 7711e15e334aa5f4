import DAOCore
import DAOExamples
import DAOKeyValue
import Foundation

/// A model with every kind of index.
struct Message: Model, Equatable {
    var id: Int
    var sender: Int?
    var date: Date
    var text: String
    var code: String?
    var isRead: Bool
    var score: Double
    var amount: Decimal?

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("sender", \.sender, .indexed),
        Field("date", \.date, .indexed),
        Field("text", \.text, .indexed),
        Field("code", \.code, .unique),
        Field("isRead", \.isRead),
        Field("score", \.score),
        Field("amount", \.amount, .indexed)
    )

    static func make(_ id: Int, sender: Int? = nil, code: String? = nil, text: String = "") -> Message {
        Message(
            id: id, sender: sender, date: Date(timeIntervalSinceReferenceDate: Double(id / 2)), text: text, code: code,
            isRead: id % 2 == 0, score: Double(id) / 2, amount: nil)
    }
}

/// A model with a string key and no index.
struct Note: Model, Equatable {
    var key: String
    var text: String

    static let schema = Schema("note", Self.init, Field("key", \.key, .primaryKey), Field("text", \.text))
}

func makeDatabase(checksums: Bool = true) throws -> KeyValueDatabase {
    try KeyValueDatabase(store: SortedArrayStore(), options: KeyValueOptions(usesChecksums: checksums))
}

/// The kind of the `StorageError` that a closure throws; nil when it throws none.
func errorKind(_ body: () throws -> Void) -> StorageError.Kind? {
    do {
        try body()
        return nil
    } catch {
        return (error as? StorageError)?.kind
    }
}
