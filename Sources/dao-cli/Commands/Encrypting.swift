import DAOCore
import DAOSQLite
import Foundation

extension Command.Parameter {
    fileprivate static let file = Command.Parameter(name: "FILE", help: "the SQLite file, such as app.db")
    fileprivate static let newFile = Command.Parameter(name: "NEWFILE", help: "the file that is written; FILE stays as it is")
}

extension Command {
    static let encrypt = Command(
        name: "encrypt", summary: "writes an SQLite file into an encrypted one", parameters: [.file, .newFile],
        options: .keyFormat,
        discussion: """
            All that the file has is copied, tables of other programs too, while others use it. The key is that of NEWFILE. An earlier
            copy of the same database is replaced.
            """
    ) { arguments in
        guard let key = try Keys.encryption(arguments, isNew: true) else {
            throw UsageError("give the key with --key-file or --ask-key")
        }
        let format: Keys.Format? = try arguments.choice(of: "format")
        return try write(arguments, nil, try Keys.encryption(key, format), into: arguments.word("NEWFILE"))
    }

    static let decrypt = Command(
        name: "decrypt", summary: "writes an encrypted SQLite file into a plain one", parameters: [.file, .newFile], options: [],
        discussion: "All that the file has is copied, while others use it. An earlier copy of the same database is replaced."
    ) { arguments in
        guard let key = try Keys.encryption(arguments) else { throw UsageError("give the key with --key-file or --ask-key") }
        return try write(arguments, key, nil, into: arguments.word("NEWFILE"))
    }

    static let rekey = Command(
        name: "rekey", summary: "changes the key of an encrypted SQLite file, or its format", parameters: [.file],
        options: .newKey + .keyFormat,
        discussion: """
            No program may have the file open. A new file is written beside it, and put in its place when it is complete. Without a new
            key the format alone is changed, without a format the key alone.
            """
    ) { arguments in
        guard let key = try Keys.encryption(arguments) else { throw UsageError("give the key with --key-file or --ask-key") }
        let format: Keys.Format? = try arguments.choice(of: "format")
        let new = try Keys.encryption(arguments, "new-", isNew: true)
        if new == nil, format == nil { throw UsageError("give the new key with --new-key-file or --new-ask-key, or a --format") }
        if let new, format == nil, let kept = Keys.sqlCipherFormat(of: try configuration(arguments).path, key) {
            let secret = try new.secret(path: "")
            return try write(arguments, key, .asking(format: kept) { secret }, into: nil)
        }
        return try write(arguments, key, try Keys.encryption(new ?? key, format), into: nil)
    }

    private static func write(
        _ arguments: Arguments, _ old: Encryption?, _ new: Encryption?, into path: String?
    ) throws -> Int32 {
        Program.patience.store(.max, ordering: .relaxed)
        var configuration = try configuration(arguments)
        configuration.encryption = old
        let target = path.map { $0.hasPrefix("sqlite:") ? String($0.dropFirst("sqlite:".count)) : $0 }
        guard FileManager.default.fileExists(atPath: configuration.path) else {
            throw StorageError(
                .notFound, "there is no file at the path '\(configuration.path)'; check the path", path: configuration.path)
        }
        try SQLiteDatabase.reencrypt(configuration, with: new, into: target)
        let written = target ?? configuration.path
        let size = (try? FileManager.default.attributesOfItem(atPath: written))?[.size] as? NSNumber
        try Output.write("\(written), \(bytes(size?.intValue ?? 0))")
        return 0
    }

    private static func configuration(_ arguments: Arguments) throws -> DatabaseConfiguration {
        let word = arguments.word("FILE")
        return try word.hasPrefix("sqlite:")
            ? DatabaseConfiguration(url: word) : DatabaseConfiguration(scheme: DatabaseDriver.sqlite.scheme, path: word)
    }
}
