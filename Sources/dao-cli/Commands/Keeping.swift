import DAOCore
import Foundation

extension Command {
    static let copy = Command(
        name: "copy", summary: "copies a database into another one of any kind, and compares both",
        parameters: [
            Parameter(name: "FROM", help: "the database that is copied"),
            Parameter(name: "TO", help: "the database that gets the copy; it is made when it is missing"),
        ],
        options: [
            Option(
                name: "follow",
                help: "keeps TO up to date while programs write into FROM, until it is ended; the next call goes on"),
            Option(
                name: "hand-over",
                help: "as --follow, until TO is caught up: then FROM takes no more writes, and TO is the database"),
            Option(name: "cancel", help: "ends what --follow has begun in FROM; after --hand-over, FROM takes writes again"),
            .json,
        ] + .toKey,
        discussion: """
            An interrupted copy goes on when it is called again. Rows that are there already are never overwritten. To move a database that
            programs write into, begin with --follow, and hand over when nobody minds a pause of a moment: a write into FROM then fails,
            and the programs have to open TO. Nothing that was acknowledged is missing there.
            """
    ) { arguments in
        Program.patience.store(.max, ordering: .relaxed)
        let (follows, handsOver, cancels) = (arguments.has("follow"), arguments.has("hand-over"), arguments.has("cancel"))
        let access: Access = follows || handsOver || cancels ? .writes : .reads
        return try await Databases.using(arguments, access, word: "FROM") { source in
            if let file = try ForeignFile(source, arguments.word("FROM")), file.hasRows {
                throw StorageError(
                    .schemaMismatch,
                    "another program has made the file, and its \(file.contents) are no entities that could be copied; 'dao inspect "
                        + "\(file.url)' says what they would become, and 'dao move \(file.path) URL' moves their rows. Nothing was changed"
                )
            }
            if let others = try ForeignFile.others(beside: source, arguments.word("FROM")) { Program.complain(others) }
            if cancels {
                try source.cancelFollow()
                try Output.report(arguments.has("json") ? "{}" : "FROM takes writes, and is not followed any more")
                return 0
            }
            return try await Databases.using(arguments, .creates, word: "TO") { target in
                if follows || handsOver { return try follow(source, target, handsOver: handsOver, arguments) }
                let progress = Progress()
                defer { progress.end() }
                let report = try await Program.goingOn {
                    try await source.copy(to: target) { progress.show($0.entity, $0.rows, of: $0.total, "rows") }
                }
                progress.end()
                let rows = report.rows.values.reduce(0, +)
                if arguments.has("json") {
                    try Output.report(
                        JSON.object(["rows": "\(rows)", "written": "\(report.rowsWritten)", "entities": "\(report.rows.count)"]))
                } else {
                    try Output.report(
                        "\(counted(rows, "row")) in \(counted(report.rows.count, "entity", "entities")) compared, "
                            + "\(report.rowsWritten) written")
                }
                return 0
            }
        }
    }

    /// Copies rows, and then changes, and hands over when it is asked to.
    private static func follow(
        _ source: any Database, _ target: any Database, handsOver: Bool, _ arguments: Arguments
    ) throws -> Int32 {
        let progress = Progress()
        defer { progress.end() }
        var wasCaughtUp = false
        let report = try source.follow(into: target) { step in
            if let entity = step.entity {
                progress.show(entity, step.rows, of: step.total, "rows")
                return .goOn
            }
            if step.isCaughtUp, !wasCaughtUp {
                progress.end()
                Program.complain("TO is caught up" + (handsOver ? "" : "; it follows until this command is ended"))
                wasCaughtUp = true
            }
            return handsOver && step.isCaughtUp ? .handOver : .goOn
        }
        progress.end()
        let rows = report.rows.values.reduce(0, +)
        let pause = (report.pause ?? .zero) / .milliseconds(1)
        if arguments.has("json") {
            try Output.report(
                JSON.object([
                    "rows": "\(rows)", "changes": "\(report.changes)", "entities": "\(report.rows.count)",
                    "pauseMilliseconds": "\(Int(pause.rounded()))",
                ]))
        } else {
            try Output.report(
                "\(counted(rows, "row")) in \(counted(report.rows.count, "entity", "entities")) compared, "
                    + "\(counted(report.changes, "change")) followed; TO has taken over after a pause of \(Int(pause.rounded())) ms"
            )
        }
        return 0
    }

    static let backup = Command(
        name: "backup", summary: "writes the last commit of a database into a file, while others use it",
        parameters: [.url, Parameter(name: "PATH", help: "the file; an earlier backup there is replaced")], options: [.json],
        discussion: "A database on a server has no file: use 'dao copy URL sqlite:backup.db', or pg_dump."
    ) { arguments in
        let configuration = try Databases.configuration(of: arguments.word("URL"))
        try configuration.requireFile("that could be backed up", "'dao copy URL sqlite:backup.db', or pg_dump")
        return try await backUp(arguments.configuration("URL"), to: arguments.word("PATH"), arguments)
    }

    static let restore = Command(
        name: "restore", summary: "puts a backup in the place of a database",
        parameters: [.url, Parameter(name: "PATH", help: "the file of the backup")],
        options: [Option(name: "replace", help: "replaces the database that is there, with all that it has"), .json],
        discussion: """
            No program may have the database open. The backup stays as it is. A database on a server has no file that could be
            replaced: use 'dao copy', or pg_restore.
            """
    ) { arguments in
        let configuration = try arguments.configuration("URL")
        try configuration.requireFile("that a backup could replace", "'dao copy' into an empty schema, or pg_restore")
        if !arguments.has("replace"), FileManager.default.fileExists(atPath: configuration.path) {
            throw UsageError("'\(configuration.path)' is there already; replace it with --replace")
        }
        var backup = configuration
        backup.path = arguments.word("PATH")
        // The backup of a backup is the same database, and replacing a database is what a backup does safely.
        return try await backUp(backup, to: configuration.path, arguments)
    }

    private static func backUp(
        _ configuration: DatabaseConfiguration, to path: String, _ arguments: Arguments
    ) async throws -> Int32 {
        Program.patience.store(.max, ordering: .relaxed)
        return try await Databases.using(configuration, .reads) { database in
            let progress = Progress()
            defer { progress.end() }
            try await database.backup(to: path) { progress.show("backup", $0.bytes, of: $0.total, "bytes") }
            progress.end()
            let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber
            let text =
                arguments.has("json")
                ? JSON.object(["path": JSON.text(path), "bytes": "\(size?.intValue ?? 0)"])
                : "\(path), \(bytes(size?.intValue ?? 0))"
            try Output.report(text)
            return 0
        }
    }

    static let verify = Command(
        name: "verify", summary: "looks for damage in everything that is stored", parameters: [.url], options: [.json],
        discussion: "The exit code is 1 when there is damage. It is written with the entity, the key and the field."
    ) { arguments in
        try await Databases.using(arguments, .reads) { database in
            // What is wrong with a catalog, the verification says.
            let file = try? ForeignFile(database, arguments.word("URL"))
            let progress = Progress()
            defer { progress.end() }
            let report = try await database.verify { progress.show($0.entity, $0.rows, of: $0.total, "rows") }
            progress.end()
            if arguments.has("json") {
                try Output.write(
                    JSON.object([
                        "rows": "\(report.rows.values.reduce(0, +))", "problemCount": "\(report.problemCount)",
                        "problems": JSON.list(report.problems.map { JSON.text("\($0)") }),
                    ]))
            } else if let file {
                // The structure of the file was checked. What its values mean, only its program knows.
                try Output.write(
                    "\(file.contents) of another program, "
                        + (report.isSound ? "no damage of the file" : counted(report.problemCount, "problem")))
                for problem in report.problems { try Output.write("\(problem)") }
                try Output.write("'dao inspect \(file.url)' says what they would become")
            } else {
                try Output.write("\(report)")
            }
            return report.isSound ? 0 : 1
        }
    }

    static let compact = Command(
        name: "compact", summary: "makes the file of a database as small as its content allows", parameters: [.url],
        options: [.json], discussion: "A database on a server has no file: its VACUUM does this."
    ) { arguments in
        let configuration = try Databases.configuration(of: arguments.word("URL"))
        try configuration.requireFile("that could be made smaller", "the server's VACUUM")
        return try await Databases.using(arguments, .writes) { database in
            let report = try await database.compact()
            let text =
                arguments.has("json")
                ? JSON.object(["bytesBefore": "\(report.bytesBefore)", "bytesAfter": "\(report.bytesAfter)"])
                : "\(bytes(report.bytesBefore)) before, \(bytes(report.bytesAfter)) after"
            try Output.report(text)
            return 0
        }
    }
}
