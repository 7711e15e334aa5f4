/// The key of an encrypted database, and the format of its file when it is made.
///
/// ```swift
/// var configuration = try DatabaseConfiguration(url: "sqlite:///var/lib/app.db")
/// configuration.encryption = .passphrase("correct horse battery staple")
/// ```
///
/// It is no part of a configuration's URL, comparison, hash or description, and its own description shows nothing.
/// A key or a passphrase that the application keeps in a value of its own stays in memory; see the guide to encryption.
public struct Encryption: Sendable {
    /// The format of an encrypted file.
    public enum Format: Sendable, Hashable {
        /// Every page is encrypted and authenticated with AES-256-GCM. A file says that it has this format, and a wrong key
        /// is told from damage.
        case authenticated
        /// The default format of SQLCipher 4, for files that other programs share.
        ///
        /// - Parameter salt: The 16 bytes that a file with a plain header does not have (`cipher_plaintext_header_size = 32`
        ///   and `cipher_salt`); nil for a file that begins with them.
        case sqlCipher(salt: [UInt8]? = nil)
    }

    /// A key or a passphrase.
    public struct Secret: Sendable {
        /// The bytes of the key, or of the passphrase in UTF-8.
        package let bytes: [UInt8]
        package let isPassphrase: Bool

        /// A key of 32 random bytes.
        public static func key(_ bytes: some Sequence<UInt8>) -> Secret { Secret(bytes: Array(bytes), isPassphrase: false) }

        /// A text from which the key is derived, which takes about a tenth of a second.
        public static func passphrase(_ text: String) -> Secret { Secret(bytes: Array(text.utf8), isPassphrase: true) }
    }

    /// The format of a file that is made. An existing file has its own.
    public let format: Format
    private let ask: @Sendable () throws -> Secret

    /// Encryption with a key of 32 random bytes.
    public static func key(_ bytes: some Sequence<UInt8>, format: Format = .authenticated) -> Encryption {
        let secret = Secret.key(bytes)
        return Encryption(format: format) { secret }
    }

    /// Encryption with a passphrase, from which the key is derived when the database is opened.
    public static func passphrase(_ text: String, format: Format = .authenticated) -> Encryption {
        let secret = Secret.passphrase(text)
        return Encryption(format: format) { secret }
    }

    /// Encryption with a secret that is asked for each time the database is opened, for example in a keychain.
    ///
    /// - Parameters:
    ///   - format: The format of a file that is made.
    ///   - ask: A closure that returns the secret. An error that it throws is that of the opening.
    public static func asking(format: Format = .authenticated, _ ask: @escaping @Sendable () throws -> Secret) -> Encryption {
        Encryption(format: format, ask: ask)
    }

    /// Asks for the secret.
    ///
    /// - Parameter path: The path of the database, for errors.
    /// - Throws: `.invalidConfiguration` for a secret or a salt that cannot be one; the errors of the closure.
    package func secret(path: String) throws -> Secret {
        let secret = try ask()
        let problem: String? =
            if secret.isPassphrase {
                secret.bytes.isEmpty ? "the passphrase is empty; give one" : nil
            } else {
                secret.bytes.count == 32 ? nil : "the key has \(secret.bytes.count) bytes; give one of 32"
            }
        if let problem { throw StorageError(.invalidConfiguration, problem, path: path) }
        if case .sqlCipher(let salt?) = format, salt.count != 16 {
            throw StorageError(.invalidConfiguration, "the salt has \(salt.count) bytes; give one of 16", path: path)
        }
        return secret
    }
}

extension Encryption: Hashable {
    /// Always true: a secret is not compared where it could be found out.
    public static func == (left: Encryption, right: Encryption) -> Bool { true }

    /// Adds nothing.
    public func hash(into hasher: inout Hasher) {}
}

extension Encryption: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The word "encryption".
    public var description: String { "encryption" }
    /// The word "encryption".
    public var debugDescription: String { description }
    /// Has no children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Encryption.Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The word "secret".
    public var description: String { "secret" }
    /// The word "secret".
    public var debugDescription: String { description }
    /// Has no children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension StorageError {
    /// The error for an encrypted database of a kind that cannot be encrypted.
    package static func encryptionUnsupported(_ kind: String, _ instead: String, path: String?) -> StorageError {
        StorageError(.unsupported, "\(kind) cannot be encrypted here; \(instead)", path: path)
    }
}
