import DAOCore
import DAOKeyValue
import Foundation
import Testing

@Suite("Transactions on every store")
struct TransactionTests {

    @Test("a transaction used after its end is refused", arguments: StoreKind.allCases)
    func usedAfterEnd(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.write { try $0.store([1], [1]) }
            for access in [KeyValueAccess.read, .write] {
                let transaction = try store.begin(access)
                let cursor = try transaction.cursor()
                #expect(try cursor.seek([1]))
                transaction.abort()
                // Another transaction can have reused the resources of the first.
                let other = try store.begin(.read)
                #expect(failureKind { _ = try transaction.value([1]) } == .invalidTransaction)
                #expect(failureKind { _ = try transaction.cursor() } == .invalidTransaction)
                #expect(failureKind { try transaction.commit() } == .invalidTransaction)
                #expect(failureKind { _ = try cursor.next() } == .invalidTransaction)
                #expect(failureKind { _ = try cursor.seek([1]) } == .invalidTransaction)
                transaction.abort()
                #expect(try other.value([1]) == [1])
                other.abort()
            }
        }
    }

    @Test("a read transaction refuses to write", arguments: StoreKind.allCases)
    func readOnly(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.read { transaction in
                #expect(failureKind { try transaction.store([1], [1]) } == .invalidTransaction)
                #expect(failureKind { _ = try transaction.add([1], [1]) } == .invalidTransaction)
                #expect(failureKind { _ = try transaction.remove([1]) } == .invalidTransaction)
                #expect(failureKind { try transaction.beginSavepoint() } == .invalidTransaction)
            }
        }
    }

    @Test("another thread cannot write, and a thread cannot begin two write transactions", arguments: StoreKind.allCases)
    func threads(kind: StoreKind) throws {
        try kind.withStore { store in
            let transaction = try store.begin(.write)
            #expect(failureKind { _ = try store.begin(.write) } == .invalidTransaction)
            // Used on the wrong thread on purpose. That thread ends before this one goes on.
            nonisolated(unsafe) let shared = transaction
            let group = DispatchGroup()
            Thread.detachNewThread(in: group) {
                #expect(failureKind { try shared.store([1], [1]) } == .invalidTransaction)
                #expect(failureKind { try shared.commit() } == .invalidTransaction)
            }
            group.wait()
            try transaction.store([1], [1])
            try transaction.commit()
            #expect(try store.read { try $0.value([1]) } == [1])
        }
    }

    @Test("writers on several threads wait for each other and lose no update", arguments: StoreKind.allCases)
    func writersInTurn(kind: StoreKind) throws {
        try kind.withStore { store in
            let group = DispatchGroup()
            for _ in 0..<4 {
                Thread.detachNewThread(in: group) {
                    for _ in 0..<25 {
                        #expect(throws: Never.self) {
                            try store.write { try $0.store([1], [(try $0.value([1])?.first ?? 0) + 1]) }
                        }
                    }
                }
            }
            group.wait()
            let total = try store.read { try $0.value([1]) }
            #expect(total == [100])
        }
    }

    @Test("keys of 0 and 512 bytes are refused, and the transaction continues", arguments: StoreKind.allCases)
    func keySizes(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.write { transaction in
                #expect(failureKind { try transaction.store([], [1]) } == .invalidKey)
                #expect(failureKind { try transaction.store(Bytes(repeating: 1, count: 512), [1]) } == .invalidKey)
                #expect(failureKind { _ = try transaction.add([], [1]) } == .invalidKey)
                #expect(failureKind { _ = try transaction.add(Bytes(repeating: 1, count: 512), [1]) } == .invalidKey)
                try transaction.store(Bytes(repeating: 1, count: 511), [1])
                try transaction.store([0], [])
            }
            #expect(try store.read { try $0.contents().keys.count } == 2)
            #expect(try store.read { try $0.value([0]) } == [])
        }
    }

    @Test("values of 64 MiB", arguments: StoreKind.allCases)
    func largeValues(kind: StoreKind) throws {
        try kind.withStore { store in
            let value = Bytes(repeating: 0xA5, count: 64 << 20)
            try store.write { try $0.store([1], value) }
            #expect(try store.read { try $0.value([1]) } == value)
            try store.write { try $0.store([1], [1]) }
            #expect(try store.read { try $0.value([1]) } == [1])
        }
    }

    @Test("unbalanced savepoints are refused", arguments: StoreKind.allCases)
    func unbalancedSavepoints(kind: StoreKind) throws {
        try kind.withStore { store in
            let transaction = try store.begin(.write)
            #expect(failureKind { try transaction.releaseSavepoint() } == .invalidTransaction)
            #expect(failureKind { try transaction.rollbackSavepoint() } == .invalidTransaction)
            try transaction.store([1], [1])
            try transaction.beginSavepoint()
            #expect(failureKind { try transaction.commit() } == .invalidTransaction)
            #expect(try store.read { try $0.value([1]) } == nil)
            try store.write { try $0.store([1], [2]) }
        }
    }

    @Test("200 concurrent readers", arguments: StoreKind.allCases)
    func manyReaders(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.write { try $0.store([1], [1]) }
            for _ in 0..<3 {
                let readers = try (0..<200).map { _ in try store.begin(.read) }
                for reader in readers { #expect(try reader.value([1]) == [1]) }
                for reader in readers { reader.abort() }
            }
        }
    }
}
