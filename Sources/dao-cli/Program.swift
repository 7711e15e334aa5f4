import DAOCore
import DAORedaction
import Foundation

/// The command line `dao`: what it has, and what it says.
enum Program {
    static let commands = all.map { command in
        var command = command
        if ["URL", "FROM", "FILE"].contains(command.parameters.first?.name) { command.options += .key }
        return command
    }

    private static let all: [Command] = [
        .inspect, .query, .get, .count, .explain, .watch, .browse, .export, .import, .erase, .drop, .log, .copy, .move, .backup,
        .restore,
        .verify,
        .compact, .migrate, .encrypt, .decrypt, .rekey, .completion,
    ]

    static let help = """
        usage: dao COMMAND [options]

        Reads and keeps databases of swift-dao, whatever application made them.

        \(commands.map { "  \($0.name.padding(to: 10)) \($0.summary)" }.joined(separator: "\n"))

        A database is a URL: sqlite:app.db, sqlite:///var/lib/app.db, lmdb:app.mdb,
        postgres://user@host/database?schema=main. No command but copy, move and 'import --key' creates one.
        'dao COMMAND --help' says more. The exit code is 0 for success, 1 for a failure, 64 for words that are no command,
        and 130 after Ctrl-C.
        """

    /// How many seconds the running command has after Ctrl-C to end by itself; `.max` for one that would leave something
    /// half-done. A second Ctrl-C ends it at once.
    static let patience = Atomic(1)

    /// The directory of temporary files; nil when there are none.
    static let leftovers = Lock<URL?>(nil)

    /// Removes the temporary files.
    static func removeLeftovers() {
        if let directory = leftovers.withLock({ $0.take() }) { try? FileManager.default.removeItem(at: directory) }
    }

    /// Ends the program in the middle of its work.
    static func end() -> Never {
        removeLeftovers()
        _exit(130)
    }

    /// Runs the command of some words.
    ///
    /// - Returns: The exit code.
    static func run(_ words: [String]) async -> Int32 {
        do {
            let code = try await result(of: words)
            try Output.flush()
            return code
        } catch {
            if let code = (error as? Output.Closed)?.code {
                complain("the output cannot be written: \(String(cString: strerror(code)))")
                return 1
            }
            // As a program ends that writes to a closed pipe.
            return 141
        }
    }

    private static func result(of words: [String]) async throws -> Int32 {
        do {
            return try await execute(words)
        } catch let closed as Output.Closed {
            throw closed
        } catch let error as UsageError {
            let place = error.command.map { "dao \($0) --help" } ?? "dao --help"
            complain("\(error.message); try '\(place)'")
            return 64
        } catch is CancellationError {
            complain("interrupted")
            return 130
        } catch let error as StorageError {
            complain(error.line)
            return 1
        } catch {
            complain("\(error)")
            return 1
        }
    }

    private static func execute(_ words: [String]) async throws -> Int32 {
        guard let name = words.first else {
            FileHandle.standardError.write(Data((help + "\n").utf8))
            return 64
        }
        if ["--help", "-h", "help"].contains(name) {
            guard words.count > 1, let command = commands.first(where: { $0.name == words[1] }) else {
                try Output.write(help)
                return 0
            }
            try Output.write(command.help)
            return 0
        }
        guard let command = commands.first(where: { $0.name == name }) else {
            throw UsageError(
                "there is no command '\(redacted(name))'; use one of these: \(commands.map(\.name).joined(separator: ", "))")
        }
        let arguments = try Arguments(words.dropFirst(), of: command)
        if arguments.asksForHelp {
            try Output.write(command.help)
            return 0
        }
        do {
            return try await command.run(arguments)
        } catch let error as UsageError where error.command == nil {
            throw UsageError(error.message, command)
        }
    }

    /// Runs a copy, which keeps what it has stored when it ends early, and says so.
    static func goingOn<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch is CancellationError {
            complain("what was copied stays, and the same command goes on")
            throw CancellationError()
        } catch let error as StorageError where error.message.contains("nothing was written") {
            throw CopyError(
                description: error.line.replacing("nothing was written", with: "what was copied before stays")
                    + "; the same command then goes on")
        }
    }

    /// The end of a copy that can go on.
    private struct CopyError: Error, CustomStringConvertible { let description: String }

    /// Writes a line to the standard error stream.
    static func complain(_ text: String) {
        let line = printable(text.split(whereSeparator: \.isNewline).joined(separator: " "))
        FileHandle.standardError.write(Data("dao: \(line)\n".utf8))
    }
}

extension StorageError {
    /// The error as people read it: what happened and what to do, then what the message does not say.
    var line: String {
        // What is code elsewhere is an option here.
        var text = message.replacing(
            "give its key as 'encryption' of the configuration", with: "give its key with --key-file or --ask-key")
        if let position { text += ", at character \(position + 1) of the predicate" }
        var details: [String] = []
        if let path, !path.isEmpty, !message.contains(path) { details.append(path) }
        if let entity, !message.contains(entity) { details.append("entity \(entity)") }
        if let key, !message.contains(key.rawValue) { details.append("key \(key.rawValue)") }
        if let engineMessage { details.append(engineMessage) }
        return text + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }
}
