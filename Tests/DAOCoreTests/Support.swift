import DAOCore
import Foundation
import Testing

/// A model with a field of every kind that predicates support.
struct Sample: Model, Plain, Equatable {
    var id: Int
    var name: String
    var nick: String?
    var age: Int
    var level: Int8?
    var big: UInt64
    var score: Double?
    var ratio: Float?
    var price: Decimal?
    var isRead: Bool
    var flag: Bool?
    var date: Date?
    var token: UUID?
    var link: URL?
    var bytes: Data?
    var tags: [String]
    var like: Int

    static let schema = Schema(
        "sample", Self.init,
        Field("id", \.id, .primaryKey),
        Field("name", \.name, .indexed),
        Field("nick", \.nick),
        Field("age", \.age, .indexed),
        Field("level", \.level),
        Field("big", \.big),
        Field("score", \.score),
        Field("ratio", \.ratio),
        Field("price", \.price),
        Field("isRead", \.isRead),
        Field("flag", \.flag),
        Field("date", \.date),
        Field("token", \.token),
        Field("link", \.link),
        Field("bytes", \.bytes),
        Field("tags", \.tags),
        Field("like", \.like)
    )

    static func index(_ name: String) throws -> Int { try #require(schema.description.index(of: name)) }
}

/// Returns the error that a closure throws.
func storageError(_ body: () throws -> some Any) throws -> StorageError {
    do {
        let result = try body()
        throw Unexpected(description: "expected an error, got \(result)")
    } catch let error as StorageError {
        return error
    }
}

struct Unexpected: Error, CustomStringConvertible { let description: String }

func decimal(_ text: String) throws -> Decimal { try #require(Decimal(string: text)) }
