/// What the command line asks for.
struct Options {
    static let help = """
        dao-offline-demo [URL]

        Starts a small web server on this machine (it needs python3), fetches dialogs from it, stores them, stops the server,
        reads them again without it, and shows both.

          URL      where to store them: memory: (when none is given), sqlite:dialogs.db, lmdb:dialogs.mdb
          --help   shows this
        """

    var url = "memory:"
    var asksForHelp = false

    init(_ arguments: some Collection<String>) throws {
        asksForHelp = arguments.contains("--help") || arguments.contains("-h")
        guard !asksForHelp, let first = arguments.first else { return }
        guard !first.hasPrefix("-") else { throw UsageError("there is no option '\(first)'; try --help") }
        guard arguments.count == 1 else { throw UsageError("one URL is enough, not \(arguments.count); try --help") }
        url = first
    }
}

/// What is wrong with the command line.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
