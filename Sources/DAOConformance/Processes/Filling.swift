#if os(Linux) || os(macOS)
    import DAOCore
    import Foundation

    /// Writes until no file of the process may grow any more, and writes again after the limit is removed.
    package enum Filling {
        /// The limit on the length of files.
        private static let limit: rlim_t = 6 << 20

        /// Fills the database with rows, each in its own transaction.
        ///
        /// - Returns: The kind of the error that ended the writes, and the number of rows after a further row
        ///   was written without the limit.
        /// - Throws: A failure when the remaining rows are wrong.
        static func run(_ database: any Database) throws -> String {
            // A storage that does not do so itself would end the process.
            FileSizeSignal.ignore()
            let posts = try database.dao(Post.self)
            var count = 0
            func write() throws {
                try posts.create(post(count))
                count += 1
            }
            func expectWhole() throws { try expectSame(try posts.read(), (0..<count).map(post), "the rows") }

            try limitFiles(to: limit)
            var kind = "no error"
            do {
                while count < 1000 { try write() }
            } catch let error as StorageError {
                kind = error.kind.rawValue
            }
            try expectWhole()
            // The failed write must not have changed anything, so the next write fails in the same way.
            try expectError(.outOfSpace, "the next write without space", path: database.configuration.path) {
                while count < 2000 { try write() }
            }
            try expectWhole()
            try limitFiles(to: nil)
            try write()
            try expectWhole()
            return "\(kind) \(count)"
        }

        /// Returns a row that is larger than a page.
        static func post(_ number: Int) -> Post { Post(id: number, text: String(repeating: "\(number) ", count: 40_000)) }

        /// Sets the limit on the length of this process's files.
        ///
        /// - Parameter length: The number of bytes; nil for the greatest limit that the system allows.
        package static func limitFiles(to length: rlim_t?) throws {
            var limit = rlimit()
            #if canImport(Glibc)
                let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            #else
                let resource = RLIMIT_FSIZE
            #endif
            getrlimit(resource, &limit)
            limit.rlim_cur = length ?? limit.rlim_max
            guard setrlimit(resource, &limit) == 0 else { throw fail("the limit on files cannot be set: \(errno)") }
        }
    }
#endif
