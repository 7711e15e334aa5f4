import DAOCore
import DAOCurl
import DAONodes
import DAOTransport
import Foundation

/// The whole path as one chain, and its first half alone. The chain does not depend on the kind of database.
struct DialogChain {
    /// Fetches and stores dialogs; fails without a network.
    let sync: any Node<Void, [Dialog]>
    /// Fetches and stores dialogs, or returns the stored dialogs.
    let load: any Node<Void, [Dialog]>

    init(server: URL, dialogs: DAO<DialogTranslator>) {
        let client = CurlClient(baseURL: server)
        let wire = EndpointNode(client: client) { (_: Json) in DialogsEndpoint() }
        let fetched = ModelInputNode<Json, [Dialog]>(next: DTOMapperNode<Json, [DialogEntry]>(next: wire))
        let synced = PersistNode(dialogs, next: fetched)
        let stored = FallbackToStoreNode(network: synced, stored: ReadNode(dialogs), isUsable: { !$0.isEmpty })

        sync = ErrorMapperNode(next: VoidInputNode(next: synced)) { LoadError($0) }
        load = ErrorMapperNode(next: VoidInputNode(next: stored)) { LoadError($0) }
    }
}

/// The errors that the application distinguishes.
enum LoadError: Error, CustomStringConvertible {
    case offline
    case server(any Error)
    case unreadable(any Error)
    case storage(any Error)

    init(_ error: any Error) {
        switch error {
        case _ where TechnicalError.isConnectionFailure(error): self = .offline
        case is DecodingError, is MappingError, is ContentError: self = .unreadable(error)
        case is StorageError: self = .storage(error)
        default: self = .server(error)
        }
    }

    var description: String {
        switch self {
        case .offline: "the server cannot be reached"
        case .server(let error): "the server refused the request: \(error)"
        case .unreadable(let error): "the response cannot be read: \(error)"
        case .storage(let error): "the database failed: \(error)"
        }
    }
}
