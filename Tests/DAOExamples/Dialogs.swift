// The path from the wire to a DAO that README.md and Docs/Transport.md show, compiled and run. The application's values come first, then the
// stored records, the wire's entries, the endpoint, and the chain that joins them.

import DAOCore
import DAOLMDB
import DAOMemory
import DAONodes
import DAOSQLite
import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct Dialog: Plain, Equatable {  // the application's value
    let id: Int
    let isPinned: Bool
    let messages: [DialogMessage]
    var uniqueId: UniqueID { UniqueID(id) }
}

struct DialogMessage: Plain, Model, Equatable {  // value and record at once: an entity of its own
    var id: Int
    var dialog: Int
    var position: Int
    var text: String

    static let schema = Schema(
        "dialog_message", Self.init,
        Field("id", \.id, .primaryKey), Field("dialog", \.dialog, .indexed), Field("position", \.position), Field("text", \.text)
    )
}

struct DialogModel: Model {  // the stored record
    var id: Int
    var isPinned: Bool
    var isMuted: Bool  // local only: survives every fetch

    static let schema = Schema(
        "dialog", Self.init,
        Field("id", \.id, .primaryKey), Field("isPinned", \.isPinned), Field("isMuted", \.isMuted)
    )
}

struct DialogTranslator: Translator {
    let messages: DAO<IdentityTranslator<DialogMessage>>  // of the same database: joins the transaction that runs

    func translate(model: DialogModel) throws -> Dialog {
        let messages = try messages.read(orderedBy: .ascending(\.position)) { $0.dialog == model.id }
        return Dialog(id: model.id, isPinned: model.isPinned, messages: messages)
    }
    func translate(plain: Dialog) throws -> DialogModel {
        try store(plain.messages, of: plain.id)
        return DialogModel(id: plain.id, isPinned: plain.isPinned, isMuted: false)
    }
    func translate(from plain: Dialog, to model: inout DialogModel) throws {
        try store(plain.messages, of: plain.id)
        model.isPinned = plain.isPinned
    }
    private func store(_ arrived: [DialogMessage], of dialog: Int) throws {
        try messages.erase { $0.dialog == dialog && !$0.id.in(arrived.map(\.id)) }
        try messages.persist(arrived)
    }
}

struct DialogEntry: Codable, RawMappable, JsonCodingSettings {  // what travels
    struct Message: Codable {
        let id: String
        let text: String
    }

    typealias Raw = Json
    let id: String
    let isPinned: Bool  // "is_pinned", converted here and nowhere else
    let messages: [Message]

    static var jsonDecoder: JSONDecoder { .convertingFromSnakeCase() }
    static var jsonEncoder: JSONEncoder { .convertingToSnakeCase() }
}

extension Dialog: DTOConvertible {  // between the two
    static func from(dto: DialogEntry) throws(MappingError) -> Dialog {
        guard let id = Int(dto.id) else { throw .badValue(field: "id") }
        var messages: [DialogMessage] = []
        for (position, message) in dto.messages.enumerated() {
            guard let number = Int(message.id) else { throw .badValue(field: "messages.id") }
            messages.append(DialogMessage(id: number, dialog: id, position: position, text: message.text))
        }
        return Dialog(id: id, isPinned: dto.isPinned, messages: messages)
    }
    func toDTO() -> DialogEntry {
        DialogEntry(id: String(id), isPinned: isPinned, messages: messages.map { .init(id: String($0.id), text: $0.text) })
    }
}

struct DialogsEndpoint: JsonEndpoint, URLRequestBuildable {  // {"data": {"dialog_list": […]}}
    struct List: Decodable { let dialogList: Json }
    var path = "dialogs/"

    func makeRequest() throws -> URLRequest { try get(path) }
    func content(from root: ResponseData<List>) -> Json { root.data.dialogList }
}

enum LoadError: Error, Equatable {  // what the application tells apart
    case offline
    case server(status: Int)
    case refused(APIError.Code)
    case unreadable
    case storage(ReadError)
    case other

    init(_ error: any Error) {
        switch error {
        case let error as URLError where error.isConnectionFailure: self = .offline
        case let error as HTTPError: self = .server(status: error.statusCode)
        case let error as APIError: self = .refused(error.code)
        case is DecodingError, is MappingError: self = .unreadable
        case let error as StorageError: self = .storage(ReadError(error))
        default: self = .other
        }
    }
}

/// The DAO of the dialogs. Which database it is on shows nowhere else.
func dialogsDAO(_ database: any Database) throws -> DAO<DialogTranslator> {
    let messages = DAO(storage: try database.storage(for: DialogMessage.self))
    return DAO(storage: try database.storage(for: DialogModel.self), translator: DialogTranslator(messages: messages))
}

/// The README's chain, once.
func loadDialogs(server: URL, dialogs: DAO<DialogTranslator>) async throws -> [Dialog] {
    let wire = EndpointNode(client: URLSessionClient(baseURL: server)) { (_: Json) in DialogsEndpoint() }
    let fetched = ModelInputNode<Json, [Dialog]>(next: DTOMapperNode<Json, [DialogEntry]>(next: wire))
    let synced = PersistNode(dialogs, next: fetched)  // one transaction; gives what is stored
    let load = FallbackToStoreNode(network: synced, stored: ReadNode(dialogs))  // offline: what was stored last
    let chain = ErrorMapperNode(next: VoidInputNode(next: load)) { LoadError($0) }

    let shown = try await chain.value()
    return shown
}

/// The same from code that does not await.
func showDialogs(_ chain: any Node<Void, [Dialog]>, _ show: @escaping @Sendable (String) -> Void) -> Observer<[Dialog]> {
    let observer = chain.process()
        .dispatch(on: .main)
        .onCompleted { dialogs in show("\(dialogs.count) dialogs") }
        .onError { error in show("failed: \(error)") }
        .onCancelled { show("never mind") }
        .defer { show("that was it") }
    return observer  // observer.cancel() reaches the transfer
}
