// The path from the wire to a DAO in README.md and Docs/Transport.md, compiled and run: the application's
// values, the stored records, the entries, the endpoint, and the chain.

import DAOCore
import DAOCurl
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

struct DialogMessage: Plain, Model, Equatable {  // both value and record: a separate entity
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
    var isMuted: Bool  // local only: every fetch keeps it

    static let schema = Schema(
        "dialog", Self.init,
        Field("id", \.id, .primaryKey), Field("isPinned", \.isPinned), Field("isMuted", \.isMuted)
    )
}

struct DialogTranslator: Translator {
    let messages: DAO<DialogMessage>  // of the same database: joins the running transaction

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

struct DialogEntry: Codable, RawMappable, JsonCodingSettings {  // the entry on the wire
    struct Message: Codable {
        let id: String
        let text: String
    }

    typealias Raw = Json
    let id: String
    let isPinned: Bool  // "is_pinned", converted only here
    let messages: [Message]

    static var jsonDecoder: JSONDecoder { .convertingFromSnakeCase() }
    static var jsonEncoder: JSONEncoder { .convertingToSnakeCase() }
}

extension Dialog: DTOConvertible {  // the mapping between entry and value
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

enum LoadError: Error, Equatable {  // the errors that the application distinguishes
    case offline
    case server(status: Int)
    case refused(APIError.Code)
    case unreadable
    case storage(ReadError)
    case other

    init(_ error: any Error) {
        switch error {
        case _ where TechnicalError.isConnectionFailure(error): self = .offline
        case let error as HTTPError: self = .server(status: error.statusCode)
        case let error as APIError: self = .refused(error.code)
        case is DecodingError, is MappingError, is ContentError: self = .unreadable
        case let error as StorageError: self = .storage(ReadError(error))
        default: self = .other
        }
    }
}

/// The DAO of the dialogs. No other code depends on the kind of database.
func dialogsDAO(_ database: any Database) throws -> DAO<DialogTranslator> {
    let messages = DAO(storage: try database.storage(for: DialogMessage.self))
    return DAO(storage: try database.storage(for: DialogModel.self), translator: DialogTranslator(messages: messages))
}

/// Runs the chain of the README once.
func loadDialogs(server: URL, dialogs: DAO<DialogTranslator>) async throws -> [Dialog] {
    let wire = EndpointNode(client: CurlClient(baseURL: server)) { (_: Json) in DialogsEndpoint() }
    let fetched = ModelInputNode<Json, [Dialog]>(next: DTOMapperNode<Json, [DialogEntry]>(next: wire))
    let synced = PersistNode(dialogs, next: fetched)  // one transaction; returns the stored values
    let load = FallbackToStoreNode(network: synced, stored: ReadNode(dialogs))  // offline: the stored values
    let chain = ErrorMapperNode(next: VoidInputNode(next: load)) { LoadError($0) }

    let shown = try await chain.value()
    return shown
}

/// A client for large files.
func filesClient(server: URL) -> CurlClient {
    let limits = TransferLimits(maximumBodySize: 1 << 30, deadline: .seconds(3600))  // large files, slow lines
    let files = CurlClient(baseURL: server, limits: limits)
    return files
}

/// A client with settings of its own.
func configuredClient(server: URL) -> CurlClient {
    var configuration = CurlConfiguration()
    configuration.headers["User-Agent"] = "Books/1.0"
    configuration.timeout = .seconds(20)  // without any data
    configuration.proxy = .environment
    let client = CurlClient(baseURL: server, configuration: configuration)
    return client
}

/// Runs the chain from code without `await`.
func showDialogs(_ chain: any Node<Void, [Dialog]>, _ show: @escaping @Sendable (String) -> Void) -> Observer<[Dialog]> {
    let observer = chain.process()
        .dispatch(on: .main)
        .onCompleted { dialogs in show("\(dialogs.count) dialogs") }
        .onError { error in show("failed: \(error)") }
        .onCancelled { show("cancelled") }
        .defer { show("done") }
    return observer  // observer.cancel() stops the transfer
}
