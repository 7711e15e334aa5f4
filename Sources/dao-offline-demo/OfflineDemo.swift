import DAOCore
import DAOLMDB
import DAOMemory
import DAONodes
import DAOSQLite
import DAOTransport
import Foundation

// Fetches dialogs from a server on this machine, stores them, stops the server, and reads them without it,
// with one chain of nodes.
//
//   swift run dao-offline-demo [URL]        such as  memory:  sqlite:dialogs.db  lmdb:///tmp/dialogs.mdb

@main
struct OfflineDemo {
    static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            guard !options.wantsHelp else { return print(Options.help) }
            try await OfflineDemo(options.url).run()
        } catch {
            FileHandle.standardError.write(Data("dao-offline-demo: \(error)\n".utf8))
            exit(error is UsageError ? 2 : 1)
        }
    }

    let url: String
    let database: any Database
    let store: DialogStore

    /// Opens the database. No other code depends on the backends.
    init(_ url: String) throws {
        self.url = url
        database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(url)
        store = try DialogStore(database)
    }

    func run() async throws {
        let server = try DialogServer()
        defer { server.stop() }
        let chain = DialogChain(server: server.url, dialogs: store.dialogs)
        print(
            """
            Server    \(server.url)dialogs/  (python3, process \(server.processIdentifier))
            Database  \(database.configuration)  (\(database.capabilities.engine))

            1. With the server: GET dialogs/, unwrap, map, store in one transaction, read back
            """)
        let online = try await chain.load.value()
        show(online)
        let rows = try store.rows()
        print("   In the database now: \(rows.count) rows.\n")

        print("2. The same again")
        let again = try await chain.load.value()
        guard try again == online && store.rows() == rows else { throw DemoError("the second fetch changed the database") }
        print("   The database holds the same \(rows.count) rows as before.\n")

        print("3. The server is stopped (process \(server.processIdentifier) has ended)")
        server.stop()
        do {
            _ = try await chain.sync.value()
            throw DemoError("the stopped server responded")
        } catch let error as LoadError {
            print("   GET dialogs/ alone now fails: \(error)\n")
        }

        print("4. Without the server: the chain of step 1 returns the stored dialogs")
        let offline = try await chain.load.value()
        show(offline)
        guard offline == online else { throw DemoError("the dialogs without the server differ") }
        print("   The same \(offline.count) dialogs as in step 1, read from \(database.capabilities.engine) only.\n")

        let (path, isFile) = (database.configuration.path, database.capabilities.isPersistent)
        try database.close()
        print(isFile ? "The database remains in the file \(path)." : "The database was in memory and is now released.")
    }

    private func show(_ dialogs: [Dialog]) {
        for dialog in dialogs {
            print("   \(dialog.isPinned ? "*" : " ") \(dialog.title)")
            for message in dialog.messages { print("       \(message.author): \(message.text)") }
        }
    }
}

/// A result that differs from the expected result of this program.
struct DemoError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
