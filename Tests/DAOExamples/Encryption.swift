import DAOCore
import DAOSQLite

/// The examples of the guide to encryption.
public enum EncryptionGuide {
    /// Opens an encrypted file with a passphrase, and copies a plain file into it.
    public static func encrypt(_ oldPath: String, into path: String) throws -> any Database {
        var configuration = try DatabaseConfiguration(url: "sqlite:\(path)")
        configuration.encryption = .passphrase("correct horse battery staple")
        let database = try DatabaseDrivers(.sqlite).open(configuration)
        let plain = try DatabaseConfiguration(url: "sqlite:\(oldPath)")
        let plainDatabase = try DatabaseDrivers(.sqlite).open(plain)
        try plainDatabase.copy(to: database)
        try plainDatabase.close()
        return database
    }

    /// Writes a plain file into an encrypted one, and changes the key of another.
    public static func change(_ plain: DatabaseConfiguration, _ configuration: DatabaseConfiguration, key bytes: [UInt8]) throws {
        try SQLiteDatabase.reencrypt(plain, with: .key(bytes), into: "encrypted.db")
        try SQLiteDatabase.reencrypt(configuration, with: .passphrase("a better one"))
    }

    /// The configurations of the other ways to give a key.
    public static func configurations(
        _ path: String, key bytes: [UInt8], readKeychain: @escaping @Sendable () throws -> [UInt8]
    ) throws -> [DatabaseConfiguration] {
        var configuration = try DatabaseConfiguration(url: "sqlite:\(path)")
        var all: [DatabaseConfiguration] = []
        configuration.encryption = .key(bytes)
        all.append(configuration)
        configuration.encryption = .asking { .key(try readKeychain()) }
        all.append(configuration)
        configuration.encryption = .passphrase("correct horse battery staple", format: .sqlCipher())
        all.append(configuration)
        return all
    }

    /// Opens a database whose key was typed; nil where it is another key.
    static func open(_ configuration: DatabaseConfiguration) throws -> (any Database)? {
        do {
            return try DatabaseDrivers(.sqlite).open(configuration)
        } catch let error as StorageError where error.kind == .notPermitted {
            print(error.message)  // such as that the file is encrypted with another key
            return nil
        }
    }
}
