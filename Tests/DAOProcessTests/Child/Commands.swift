import DAOChildProcesses
import DAOConformance
import DAOCore
import DAOFileCalls
import DAOTestSupport
import Foundation

/// The commands of a child process.
enum Commands {
    /// Runs the command of the first argument.
    static func run(_ arguments: ArraySlice<String>) throws {
        var arguments = arguments
        switch arguments.popFirst() {
        case "increment": try increment(arguments)
        case "crash": try commitUntilKilled(arguments)
        case "crash-search":
            let pages = try Pages(arguments.first ?? "")
            while true { answer(try pages.commitNext()) }
        case "hold": try hold(arguments)
        case "serve": try serve(arguments)
        case "look": try look(arguments)
        case "reopen": try reopen(arguments)
        case "read": try readUntilKilled(arguments)
        case "locks": try countLocks(arguments)
        case "tasks": try Tasks.run(arguments)
        case "relay": try commitUntilMoved(arguments)
        case "follow": try follow(arguments)
        case "depot": try changeDepot(arguments)
        case "consume": try consume(arguments)
        case "crash-tasks": try Tasks.commitUntilKilled(arguments)
        case "failing-tasks": try Tasks.fail(arguments)
        case "full-tasks": try Tasks.fill(arguments)
        case "fill": try Filling.run(arguments)
        case "fail": try FailingDisk.run(arguments)
        case "broken": try serveBroken(arguments)
        case "conformance": try serveConformance(arguments)
        case "probe": Probing.run()
        case "states": try CrashStates.run(arguments)
        case "faults": try Faults.run(arguments)
        case "reads": try FailingReads.run(arguments)
        case "hands": try Hands.run(arguments)
        case "wander": try wander(arguments)
        case "worker": Worker.serve()
        case let other: throw ChildFailure("there is no command '\(other ?? "")'")
        }
    }

    /// `broken <url> <fault>`: serves the conformance suite with a database that has a planted fault.
    private static func serveBroken(_ arguments: ArraySlice<String>) throws {
        guard let url = arguments.first, let fault = arguments.last.flatMap(SharingFault.init) else {
            throw ChildFailure("a URL and a fault are missing")
        }
        try ConformanceProcesses.serve(try DatabaseDrivers(BrokenSharing.driver(fault)).open(url))
    }

    /// `conformance <url>`: serves the conformance suite.
    private static func serveConformance(_ arguments: ArraySlice<String>) throws {
        guard let url = arguments.first else { throw ChildFailure("the URL of a database is missing") }
        try ConformanceProcesses.serve(try drivers.open(url))
    }

    /// `wander <scheme> <directory>`: opens a database by a relative path, and goes on in other working directories.
    private static func wander(_ arguments: ArraySlice<String>) throws {
        guard let scheme = arguments.first, let directory = arguments.last else {
            throw ChildFailure("a scheme and a directory are missing")
        }
        func go(to directory: String) throws {
            if chdir(directory) != 0 { throw ChildFailure("there is no directory \(directory)") }
        }
        try go(to: directory)
        let ledger = try Ledger("\(scheme):wander.db")
        let database = ledger.database
        try ledger.increment()
        try go(to: "/")
        try ledger.increment()
        // By the absolute path, and by what the first one says of itself.
        let path = database.configuration.path
        guard path == directory + "/wander.db" else { throw ChildFailure("the path is '\(path)'") }
        let second = try Ledger("\(scheme)://\(directory)/wander.db")
        try second.increment()
        try Ledger("\(database.configuration)").increment()
        try go(to: directory)
        try database.backup(to: "copy.db")
        try go(to: "/")
        try ledger.increment()
        answer("\(try ledger.count()) \(try Ledger("\(scheme)://\(directory)/copy.db").count())")
        try database.close()
        try second.database.close()
        do {
            _ = try drivers.open("\(scheme):wander.db?create=false")
            answer("found")
        } catch let error as StorageError {
            answer("\(error.kind.rawValue) \(error.path ?? "-")")
        }
        // A working directory that is gone.
        let gone = directory + "/gone"
        guard mkdir(gone, 0o755) == 0 else { throw ChildFailure("the directory cannot be made") }
        try go(to: gone)
        rmdir(gone)
        do {
            _ = try drivers.open("\(scheme):wander.db")
            answer("found")
        } catch let error as StorageError {
            answer(error.kind.rawValue)
        }
    }

    /// The directory of the database of a command.
    static func directory(_ arguments: ArraySlice<String>) throws -> String {
        guard let url = arguments.first else { throw ChildFailure("the URL of a database is missing") }
        return URL(fileURLWithPath: try DatabaseConfiguration(url: url).path).deletingLastPathComponent().path
    }

    /// Opens the database of a command.
    static func ledger(_ arguments: ArraySlice<String>) throws -> Ledger {
        guard let url = arguments.first else { throw ChildFailure("the URL of a database is missing") }
        return try Ledger(url)
    }

    /// `increment <url> <times>`: increments the count this many times, each time in a transaction.
    private static func increment(_ arguments: ArraySlice<String>) throws {
        let ledger = try ledger(arguments)
        answer("open")
        _ = readLine()
        for _ in 0..<(arguments.last.flatMap { Int($0) } ?? 0) { try ledger.increment() }
        answer("done")
    }

    /// `crash <url>`: commits batches until it is killed. It prints the number of each batch before it begins
    /// the next batch.
    private static func commitUntilKilled(_ arguments: ArraySlice<String>) throws {
        let ledger = try ledger(arguments)
        while true { answer(try Batches.commitNext(ledger)) }
    }

    /// `relay <url>`: commits batches until another database has taken over the rows. Then it prints the number of the last batch.
    private static func commitUntilMoved(_ arguments: ArraySlice<String>) throws {
        let ledger = try ledger(arguments)
        var last = 0
        do {
            while true { last = try Batches.commitNext(ledger) }
        } catch let error as StorageError where error.kind == .detached {
            answer("moved after \(last)")
        }
    }

    /// `depot <url> <seed> <count>`: makes so many calls, and prints `done`.
    private static func changeDepot(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 3, let seed = UInt64(words[1]), let count = Int(words[2]) else {
            throw ChildFailure("a URL and two numbers are missing")
        }
        let depot = try Depot(words[0])
        var random = SeededGenerator(seed: seed)
        for _ in 0..<count { try depot.act(&random) }
        answer("done")
    }

    /// `consume <from> <to>`: applies changes until it is killed. It prints their numbers.
    private static func consume(_ arguments: ArraySlice<String>) throws {
        guard let from = arguments.first, let to = arguments.last else { throw ChildFailure("two URLs are missing") }
        let (source, target) = (try Depot(from).database, try Depot(to).database)
        while true {
            let changes = try source.changes(
                after: target.appliedPosition(of: "depot"), limit: 500, keepsTransactions: true)
            guard let last = changes.last?.position else {
                usleep(2000)
                continue
            }
            answer(try target.apply(changes, origin: "depot"))
            try source.acknowledge(last, by: "copy")
        }
    }

    /// `follow <from> <to> <times>`: copies a database and follows it, until it has been caught up so many times. Then it hands over. It
    /// prints `caught up`, and `done` at the end.
    private static func follow(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 3, let times = Int(words[2]) else { throw ChildFailure("two URLs and a number are missing") }
        var turns = 0
        do {
            let report = try drivers.open(words[0]).follow(into: drivers.open(words[1])) { progress in
                guard progress.isCaughtUp else { return .goOn }
                turns += 1
                answer("caught up")
                return turns >= times ? .handOver : .goOn
            }
            answer("done \(report.changes)")
        } catch let error as StorageError where error.kind == .detached {
            // It had handed over when it was killed.
            answer("done")
        }
    }

    /// `hold <url>`: writes in a transaction. The next line, `commit` or `rollback`, ends it.
    private static func hold(_ arguments: ArraySlice<String>) throws {
        struct Undone: Error {}
        let ledger = try ledger(arguments)
        do {
            try ledger.database.transaction {
                try ledger.increment(by: 1000)
                answer("holding")
                if readLine() != "commit" { throw Undone() }
            }
        } catch is Undone {}
        answer("ended")
    }

    /// `look <url>`: reads in a snapshot that ends with the process.
    private static func look(_ arguments: ArraySlice<String>) throws {
        let ledger = try ledger(arguments)
        try ledger.database.snapshot {
            _ = try ledger.count()
            answer("looking")
            _ = readLine()
        }
    }

    /// `read <url>`: reads on two threads until it is killed.
    private static func readUntilKilled(_ arguments: ArraySlice<String>) throws {
        let ledger = try ledger(arguments)
        for _ in 0..<100 { _ = try ledger.count() }
        answer("reading")
        DispatchQueue.concurrentPerform(iterations: 2) { _ in while (try? ledger.count()) != nil {} }
    }

    /// `locks <url> <reads>`: reads this many times in each of some rounds, and answers with the smallest number of locks that
    /// a round took. It is zero where calls cannot be watched.
    private static func countLocks(_ arguments: ArraySlice<String>) throws {
        // Files are watched that are opened from now on.
        dao_calls_watch(try directory(arguments))
        let ledger = try ledger(arguments)
        let reads = arguments.last.flatMap { Int($0) } ?? 0
        var least = UInt64.max
        // On a busy machine the thread that begins the parked transaction waits for a processor while reads go on. They take a
        // lock each then. Some round has none such, as it is shorter than the time that a thread has the processor.
        for _ in 0..<1000 where least > reads / 10 {
            dao_calls_fail(Int32(DAO_CALLS_LOCK), 0, 0, 0)
            for _ in 0..<reads { _ = try ledger.count() }
            least = min(least, dao_calls_count())
        }
        dao_calls_watch(nil)
        answer(least)
    }

    /// `reopen <url> <times>`: opens the database, increments the count and closes it, this many times.
    private static func reopen(_ arguments: ArraySlice<String>) throws {
        for _ in 0..<(arguments.last.flatMap { Int($0) } ?? 0) {
            let ledger = try ledger(arguments)
            try ledger.increment()
            try ledger.database.close()
        }
        answer("done")
    }

    /// `serve <url>`: executes the commands of its lines: `count`, `add`, `batch`, `suspend`, `check`, `close`.
    private static func serve(_ arguments: ArraySlice<String>) throws {
        let ledger = try ledger(arguments)
        answer("open")
        while let line = readLine() {
            switch line {
            case "count": answer(try ledger.count())
            case "add":
                try ledger.increment()
                answer(Moment.now)
            case "batch": answer(try Batches.commitNext(ledger))
            case "suspend":
                try ledger.database.suspend()
                answer("suspended")
            case "check": answer(try ledger.isWhole() ? "whole" : "torn")
            default: return try ledger.database.close()
            }
        }
    }
}
