#if os(Linux) || os(macOS)
    import DAOCore
    import Foundation

    /// Writes until no file of the process may grow any more, and goes on when it may.
    package enum Filling {
        /// How long files get.
        private static let limit: rlim_t = 6 << 20

        /// Fills the database, with rows each in a transaction of its own.
        ///
        /// - Returns: The kind of the error that ended it, and how many rows there are after another one was
        ///   written with room again.
        /// - Throws: What is wrong with what is left.
        static func run(_ database: any Database) throws -> String {
            // The signal would end the process before any call returns.
            signal(SIGXFSZ, SIG_IGN)
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
            // Again: the failure before must not have changed anything.
            try expectError(.outOfSpace, "the next write without room", path: database.configuration.path) {
                while count < 2000 { try write() }
            }
            try expectWhole()
            try limitFiles(to: nil)
            try write()
            try expectWhole()
            return "\(kind) \(count)"
        }

        /// A row of a size that no page holds.
        static func post(_ number: Int) -> Post { Post(id: number, text: String(repeating: "\(number) ", count: 40_000)) }

        /// Sets how long the files of this process may get.
        ///
        /// - Parameter length: How many bytes; nil for as long as the system lets them.
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
