import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// The entries on the wire, and their mapping to the application's values.

/// A dialog as the server sends it: `{"id": "7", "title": "…", "is_pinned": true, "messages": […]}`.
struct DialogEntry: Codable, RawMappable, JsonCodingSettings {
    typealias Raw = Json

    struct Message: Codable {
        let id: String
        let author: String
        let text: String
    }

    let id: String
    let title: String
    let isPinned: Bool
    let messages: [Message]

    static var jsonDecoder: JSONDecoder { .convertingFromSnakeCase() }
    static var jsonEncoder: JSONEncoder { .convertingToSnakeCase() }
}

extension Dialog: DTODecodable {
    static func from(dto: DialogEntry) throws -> Dialog {
        guard let id = Int(dto.id) else { throw MappingError.badValue(field: "id") }
        let messages = try dto.messages.map { entry in
            guard let id = Int(entry.id) else { throw MappingError.badValue(field: "messages.id") }
            return Message(id: id, author: entry.author, text: entry.text)
        }
        return Dialog(id: id, title: dto.title, isPinned: dto.isPinned, messages: messages)
    }
}

/// `GET dialogs/`, with the response `{"data": {"dialog_list": […]}}`.
struct DialogsEndpoint: JsonEndpoint, URLRequestBuildable {
    struct List: Decodable { let dialogList: Json }

    func makeRequest() throws -> URLRequest { try get("dialogs/") }
    func content(from root: ResponseData<List>) -> Json { root.data.dialogList }
}
