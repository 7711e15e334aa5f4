import DAOBookAPI
import DAOLoopbackServer
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// Mapping through `Json` and decoding entries directly give equal entries, or both fail.

extension Book: RawEncodable, RawDecodable {
    /// The raw form is JSON.
    public typealias Raw = Json
}

private struct SnakeEntry: Codable, RawMappable, JsonCodingSettings {
    struct Part: Codable {
        let firstName: String
        let sentAt: Date?
    }

    typealias Raw = Json
    let id: String
    let isPinned: Bool
    let replyToID: Int?
    let parts: [Part]

    enum CodingKeys: String, CodingKey {
        case id, isPinned, parts
        case replyToID = "replyToId"
    }

    static var jsonDecoder: JSONDecoder { .convertingFromSnakeCase() }
    static var jsonEncoder: JSONEncoder { .convertingToSnakeCase() }
}

private struct NumbersEntry: Codable, RawMappable {
    typealias Raw = Json
    let small: Int64
    let large: UInt64
    let half: Double
    let price: Decimal
}

private struct RawRoute: JsonEndpoint, URLRequestBuildable {
    struct List: Decodable { let theList: Json }
    func makeRequest() throws -> URLRequest { try get("list") }
    func content(from root: ResponseData<List>) -> Json { root.data.theList }
}

private struct DirectRoute<Entry: RawDecodable & Sendable>: JsonEndpoint, URLRequestBuildable where Entry.Raw == Json {
    struct List: Decodable { let theList: FromRaw<[Entry]> }
    func makeRequest() throws -> URLRequest { try get("list") }
    func content(from root: ResponseData<List>) -> [Entry] { root.data.theList.value }
}

@Suite struct RouteTests {
    /// The raw forms of the entries by each route; nil for a route that fails.
    private func routes<Entry: RawMappable & Sendable>(_ type: Entry.Type, _ list: Json) -> (raw: [Json]?, direct: [Json]?)
    where Entry.Raw == Json {
        let body = (["data": ["the_list": list]] as Json).data()
        let raw = try? [Entry].from(raw: RawRoute().content(from: nil, with: body)).map { try $0.toRaw() }
        let direct = try? DirectRoute<Entry>().content(from: nil, with: body).map { try $0.toRaw() }
        return (raw, direct)
    }

    private func expectEqual<Entry: RawMappable & Sendable>(_ type: Entry.Type, _ list: Json, count: Int?)
    where Entry.Raw == Json {
        let (raw, direct) = routes(type, list)
        #expect(raw == direct, "\(type): \(list)")
        #expect(raw?.count == count, "\(type): \(list)")
    }

    @Test func bothRoutesGiveEqualEntriesForEveryFixture() {
        expectEqual(
            SnakeEntry.self,
            [
                [
                    "id": "7", "is_pinned": true, "reply_to_id": 5,
                    "parts": [["first_name": "Ann", "sent_at": 700000000.25], ["first_name": "Ben", "sent_at": nil]],
                ],
                ["id": "8", "is_pinned": false, "parts": [], "unknown_key": ["deep_key": 1]],
            ], count: 2)
        expectEqual(
            UserEntry.self, [["name": "Ann", "age": 30, "type": 1, "photos": [["id": "p1", "ref": "a.png"]], "extra": true]],
            count: 1)
        expectEqual(
            ProductEntry.self,
            [
                ["id": "1", "name": "Milk", "alias": "My milk"], ["id": "2", "name": "Milk", "alias": ""],
                ["id": "3", "name": "Milk", "alias": nil], ["id": "4", "name": "Milk"],
                ["id": "5", "name": "Milk", "alias": " "],
            ], count: 5)
        expectEqual(
            PaymentEntry.self,
            [
                [
                    "name": "Phone", "action": "pay",
                    "subitems": [["name": "number", "mask": "_", "regexp": "."], ["name": "x", "subitems": []]],
                ]
            ],
            count: 1)
        expectEqual(Book.self, [["id": 1, "name": "Mu-Mu"], ["id": 2, "name": "Kashtanka"]], count: 2)
        expectEqual(
            NumbersEntry.self,
            [
                ["small": Json(Int64.max), "large": Json(UInt64.max), "half": 0.5, "price": 19.99],
                ["small": Json(Int64.min), "large": 0, "half": -1e300, "price": 0],
            ], count: 2)
        expectEqual(Json.self, [["any_key": 1, "anyKey": 2], ["_array": [1]]], count: 2)
        expectEqual(SnakeEntry.self, [], count: 0)
        expectEqual(SnakeEntry.self, [:], count: nil)
    }

    @Test(
        arguments: [
            [["id": 1, "name": "a"], ["id": "A-1", "name": "b"]], [["id": 1]], ["key": []], "text", nil, [[]],
        ] as [Json])
    func bothRoutesFailForTheSameResponses(_ list: Json) {
        expectEqual(Book.self, list, count: nil)
    }
}
