import DAOCore
import DAOSQLite
import Foundation

extension Command.Parameter {
    fileprivate static let file = Command.Parameter(name: "FILE", help: "the SQLite file, such as app.db")
    fileprivate static let newFile = Command.Parameter(name: "NEWFILE", help: "the file that is written; FILE stays as it is")
}

extension [Command.Option] {
    fileprivate static let replace: [Command.Option] = [
        .init(name: "replace", help: "replaces NEWFILE when it is an earlier copy of the same database, with all that it has")
    ]
}

extension Command {
    static let encrypt = Command(
        name: "encrypt", summary: "writes an SQLite file into an encrypted one", parameters: [.file, .newFile],
        options: .replace + .keyFormat,
        discussion: """
            All that the file has is copied, tables of other programs too, while others use it. The key is that of NEWFILE. Ctrl-C ends
            the command, and NEWFILE is as it was.
            """
    ) { arguments in
        guard let key = try Keys.encryption(arguments, isNew: true) else {
            throw UsageError("give the key with --key-file or --ask-key")
        }
        let format: Keys.Format? = try arguments.choice(of: "format")
        return try write(arguments, nil, try Keys.encryption(key, format), into: arguments.word("NEWFILE"))
    }

    static let decrypt = Command(
        name: "decrypt", summary: "writes an encrypted SQLite file into a plain one", parameters: [.file, .newFile],
        options: .replace,
        discussion: "All that the file has is copied, while others use it. Ctrl-C ends the command, and NEWFILE is as it was."
    ) { arguments in
        guard let key = try Keys.encryption(arguments) else { throw UsageError("give the key with --key-file or --ask-key") }
        return try write(arguments, key, nil, into: arguments.word("NEWFILE"))
    }

    static let rekey = Command(
        name: "rekey", summary: "changes the key of an encrypted SQLite file, or its format", parameters: [.file],
        options: .newKey + .keyFormat,
        discussion: """
            No program may have the file open. A new file is written beside it, and put in its place when it is complete. Without a new
            key the format alone is changed, without a format the key alone. Ctrl-C ends the command, and the file is as it was.
            """
    ) { arguments in
        guard let key = try Keys.encryption(arguments) else { throw UsageError("give the key with --key-file or --ask-key") }
        let format: Keys.Format? = try arguments.choice(of: "format")
        let new = try Keys.encryption(arguments, "new-", isNew: true)
        if new == nil, format == nil { throw UsageError("give the new key with --new-key-file or --new-ask-key, or a --format") }
        if let new, format == nil,
            let kept = Keys.sqlCipherFormat(of: try Databases.configuration(of: arguments.word("FILE")).path, key)
        {
            let secret = try new.secret(path: "")
            return try write(arguments, key, .asking(format: kept) { secret }, into: nil)
        }
        return try write(arguments, key, try Keys.encryption(new ?? key, format), into: nil)
    }

    private static func write(
        _ arguments: Arguments, _ old: Encryption?, _ new: Encryption?, into path: String?
    ) throws -> Int32 {
        Program.patience.store(.max, ordering: .relaxed)
        var configuration = try Databases.configuration(of: arguments.word("FILE"))
        configuration.encryption = old
        let target = try path.map(file)
        guard FileManager.default.fileExists(atPath: configuration.path) else {
            throw StorageError(
                .notFound, "there is no file at the path '\(configuration.path)'; check the path", path: configuration.path)
        }
        if let target, !arguments.has("replace"), FileManager.default.fileExists(atPath: target) {
            throw UsageError(
                "'\(target)' is there already; replace it with --replace when it is an earlier copy of '\(configuration.path)'")
        }
        if old == nil, Keys.isEncrypted(configuration.path) {
            throw UsageError(
                "'\(configuration.path)' is encrypted already; 'dao rekey' changes its key, and 'dao backup' copies it")
        }
        try SQLiteDatabase.reencrypt(configuration, with: new, into: target)
        let written = target ?? configuration.path
        let size = (try? FileManager.default.attributesOfItem(atPath: written))?[.size] as? NSNumber
        try Output.report("\(written), \(bytes(size?.intValue ?? 0))")
        return 0
    }

    /// The path of a file that is written.
    private static func file(_ word: String) throws -> String {
        let scheme = word.prefix { $0.isLetter || $0 == "+" }
        guard word.dropFirst(scheme.count).first == ":", !scheme.isEmpty else { return word }
        guard scheme == "sqlite" else {
            throw UsageError(
                "NEWFILE is the path of an SQLite file, not '\(scheme):…'; 'dao copy' writes into a database of another kind")
        }
        return String(word.dropFirst("sqlite:".count))
    }
}
