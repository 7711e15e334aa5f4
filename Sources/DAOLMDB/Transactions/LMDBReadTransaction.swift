import DAOCore
import DAOKeyValue
import DAOSystemLMDB

/// A read transaction on a snapshot.
final class LMDBReadTransaction: LMDBTransaction, RenewableTransaction {

    private let user: EnvironmentUser
    // Nil after the end.
    @exclusivity(unchecked) private var reader: LMDBReader?
    /// The number of the commit that the snapshot has, or had.
    @exclusivity(unchecked) private(set) var number: UInt64

    /// Begins to read the newest snapshot.
    init(_ environment: LMDBEnvironment, _ user: EnvironmentUser) throws {
        let reader = try environment.takeReader(user)
        self.user = user
        number = reader.number
        super.init(reader.handle, environment)
        self.reader = reader
    }

    deinit { abort() }

    func renew() throws -> UInt64? {
        let reader = try environment.takeReader(user)
        let last = number
        number = reader.number
        if number != last { forgetFilled() }
        resume(reader.handle)
        self.reader = consume reader
        return number
    }

    override var snapshotNumber: UInt64? { handle.map { _ in number } }

    override func abort() {
        guard let reader = reader.take() else { return }
        handle = nil
        epoch += 1
        environment.leaveReader(reader)
    }

    override var pinnedBytes: Int? { handle == nil ? nil : environment.pinnedBytes(since: number) }

    // MARK: Cursors

    override func openCursor(_ tree: Int) throws -> OpaquePointer {
        guard let handle, let cursor = reader?.takeCursor(tree) else { return try super.openCursor(tree) }
        let code = mdb_cursor_renew(handle, cursor)
        guard code == 0 else {
            mdb_cursor_close(cursor)
            throw environment.errors.error(code, "opening a cursor")
        }
        return cursor
    }

    override func closeCursor(_ cursor: OpaquePointer, tree: Int, nesting: Int) {
        // LMDB lets cursors of readers outlive their transaction.
        if let reader { reader.leaveCursor(cursor, tree) } else { mdb_cursor_close(cursor) }
    }
}
