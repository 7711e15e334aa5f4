import Foundation

/// A directory for the files of a test, removed with everything in it when the place is no longer used.
package final class Place: Sendable {
    /// The kinds of database that are kept in files.
    package enum Kind: String, CaseIterable, Sendable {
        /// One file, and two beside it.
        case sqlite
        /// One file, and one beside it.
        case lmdb
        /// SQLite's files, encrypted.
        case authenticated = "sqlite+authenticated"
        /// SQLite's files, encrypted in the format of SQLCipher.
        case sqlCipher = "sqlite+sqlcipher"

        /// The kinds that are not encrypted.
        package static let allCases: [Kind] = [.sqlite, .lmdb]
        /// The kinds that are encrypted; none where this program was built without encryption.
        #if Encryption
            package static let encrypted: [Kind] = [.authenticated, .sqlCipher]
        #else
            package static let encrypted: [Kind] = []
        #endif

        /// Whether the engine is SQLite.
        package var isSQLite: Bool { self != .lmdb }
    }

    /// The directory.
    package let directory: URL
    private let kind: Kind

    /// Creates the directory.
    ///
    /// - Parameter kind: The kind of database that ``url(_:)`` is of.
    package init(_ kind: Kind = .sqlite) {
        self.kind = kind
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("dao-test-\(UUID().uuidString)")
        // Where there is no directory, opening the first file says so.
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// The path of a file in the directory.
    package func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// The file of the database that ``url(_:)`` names.
    package var file: URL { directory.appendingPathComponent("test.db") }

    /// The URL of a database in the directory.
    ///
    /// - Parameters:
    ///   - options: Options of the configuration: `timeout=0`.
    ///   - name: The name of the file; nil for that of ``file``.
    package func url(_ options: String = "", file name: String? = nil) -> String {
        "\(kind.rawValue)://\(name.map(path) ?? file.path)" + (options.isEmpty ? "" : "?\(options)")
    }
}
