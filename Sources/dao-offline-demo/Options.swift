/// The options of the command line.
struct Options {
    static let help = """
        dao-offline-demo [URL]

        Starts a small web server on this machine (this needs python3), fetches dialogs from it, stores them, stops the server,
        reads them without the server, and shows both results.

          URL      the database for the dialogs: memory: (the default), sqlite:dialogs.db, lmdb:dialogs.mdb
          --help   shows this
        """

    var url = "memory:"
    var wantsHelp = false

    init(_ arguments: some Collection<String>) throws {
        wantsHelp = arguments.contains("--help") || arguments.contains("-h")
        guard !wantsHelp, let first = arguments.first else { return }
        guard !first.hasPrefix("-") else { throw UsageError("unknown option '\(first)'; try --help") }
        guard arguments.count == 1 else { throw UsageError("expected one URL, not \(arguments.count); try --help") }
        url = first
    }
}

/// An error in the command line.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
