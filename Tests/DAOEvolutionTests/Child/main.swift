import DAOCore
import DAOEvolutionTestModels
import Foundation

// A child process for tests of evolution: `dao-evolution-child <command> <url> …`. It prints its result as a
// line, unless it is killed.

func die() { kill(getpid(), SIGKILL) }

func run(_ arguments: [String]) throws -> String {
    let database = try drivers.open(arguments[1])
    switch arguments[0] {
    case "migrate":
        // Kills itself at a point of the migration.
        let moment = Moment(rawValue: arguments[2])
        try database.evolve(evolution { if $0 == moment { die() } }) {
            if moment == .afterModels { dieAfterModels($0) }
        }
        return "done"
    case "copy":
        // Kills itself when a number of rows is in the target.
        let limit = Int(arguments[3]) ?? .max
        let report = try database.copy(to: drivers.open(arguments[2])) { if $0.rows >= limit { die() } }
        return "\(report.rowsWritten)"
    case "old":
        // Continues with the old model after another process has changed the entity.
        let entries = try database.storage(for: OldEntry.self)
        FileHandle.standardOutput.write(Data("ready \(try entries.count(Query()))\n".utf8))
        _ = readLine()
        var answers: [String] = []
        for attempt in [
            { _ = try entries.read(Query(where: Condition { $0.text == "text 5" })) },
            { try entries.upsert([OldEntry(id: 5, text: "late", count: 0)]) },
            { try entries.insert([OldEntry(id: 1000, text: "new", count: 0)]) },
        ] {
            do {
                try attempt()
                answers.append("ok")
            } catch let error as StorageError {
                answers.append(error.kind.rawValue)
            }
        }
        return answers.joined(separator: " ")
    default: return "unknown command"
    }
}

func dieAfterModels(_ progress: EvolutionProgress) {
    if progress.step.contains("'color'") { die() }
}

do {
    print(try run(Array(CommandLine.arguments.dropFirst())))
} catch {
    print("error \(error)")
    exit(1)
}
