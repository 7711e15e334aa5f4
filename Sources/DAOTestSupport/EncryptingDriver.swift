import DAOCore

extension DatabaseDriver {
    /// The driver itself, and its databases in both formats of encrypted files: `sqlite:`, `sqlite+authenticated:` and `sqlite+sqlcipher:`.
    package var encryptingToo: [DatabaseDriver] {
        [
            self, encrypting(as: "\(scheme)+authenticated", .authenticated),
            encrypting(as: "\(scheme)+sqlcipher", .sqlCipher()),
        ]
    }

    /// The driver whose databases are all encrypted with one key, with another scheme.
    ///
    /// - Parameters:
    ///   - scheme: The scheme.
    ///   - format: The format of new files.
    package func encrypting(as scheme: String, _ format: Encryption.Format) -> DatabaseDriver {
        DatabaseDriver(scheme: scheme, optionNames: optionNames, encrypts: encrypts) { asked in
            var configuration = asked
            configuration.scheme = self.scheme
            if configuration.encryption == nil { configuration.encryption = .key(0..<32, format: format) }
            return try self.open(configuration)
        }
    }
}
