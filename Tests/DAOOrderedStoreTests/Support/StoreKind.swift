import DAOKeyValue
import DAOLMDB
import DAOMemory
import DAOTestSupport
import Testing

/// The stores that all shared tests run on.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, lmdb

    var testDescription: String { rawValue }

    /// Runs a closure on a new, empty store.
    func withStore(_ body: (any OrderedKeyValueStore) throws -> Void) throws {
        let place = Place()
        let store: any OrderedKeyValueStore =
            switch self {
            case .memory: MemoryStore()
            case .lmdb: try LMDBStore(path: place.path("store.lmdb"), options: LMDBOptions(durability: .relaxed))
            }
        defer { store.close() }
        try body(store)
    }
}
