import DAOConformance
import DAOCore
import Foundation

/// Does steps with this process and others. One thread uses it.
final class ProcessRunner {
    private let target: ConformanceTarget
    private let location: ConformanceTarget.Location
    /// How many seconds to wait for what has to come.
    private let patience: Double
    private var ledger: ProcessLedger
    /// Databases that do not wait as long as the main one, by their time in milliseconds.
    private var hasty: [Int: ProcessLedger] = [:]
    private var others: [Int: any ConformanceProcess] = [:]
    /// The transaction that this process is in.
    private var held: HeldTransaction?
    /// The other process that is in a transaction.
    private var holder: Int?

    /// Opens the database in this process.
    init(_ target: ConformanceTarget, _ location: ConformanceTarget.Location, patience: Double) throws {
        self.target = target
        self.location = location
        self.patience = patience
        ledger = try Self.open(target, location, waiting: .seconds(600))
    }

    /// The database in this process, to be verified.
    var verified: any Database { ledger.database }

    /// Whether a transaction waits for those of other processes.
    var takesTurns: Bool { !ledger.database.capabilities.hasConcurrentWriters }

    /// Opens the database with a time to wait, where the target can.
    private static func open(
        _ target: ConformanceTarget, _ location: ConformanceTarget.Location, waiting: Duration
    ) throws -> ProcessLedger {
        guard let open = target.openConfiguration else { return try ProcessLedger(target.open(location)) }
        return try ProcessLedger(open(location) { $0.busyTimeout = waiting })
    }

    /// Ends everything, whatever state it is in.
    func close() {
        for process in others.values { process.kill() }
        _ = try? held?.end(commits: false, within: patience)
        for ledger in hasty.values { try? ledger.database.close() }
        try? ledger.database.close()
    }

    /// What is committed, as this process reads it: beside its own transaction, too.
    func state() throws -> ProcessLedger.State { try elsewhere { [ledger] in try ledger.state() } }

    /// Runs a step.
    ///
    /// - Returns: What the process says; of a process that was killed while it committed, how many batches it
    ///   had.
    func run(_ step: ProcessStep) throws -> String {
        switch step {
        case .start(let process):
            guard let start = target.startProcess else { throw fail("the target has no way to start another process") }
            let other = try start(location)
            others[process] = other
            return try answer(of: other) == "open" ? "done" : "not open"
        case .add(let number, let process, let waiting):
            if process > 0 { return try ask(process, "add \(number)") }
            let ledger = try waiting.map(hastyLedger) ?? ledger
            return try elsewhere { try ledger.sayingBusy { try ledger.add(number) } }
        case .read(let process):
            return process > 0 ? try ask(process, "state") : try state().description
        case .race(let processes, let times):
            for process in processes where process > 0 { try other(process).say("race \(times)") }
            if processes.contains(0) {
                try elsewhere { [ledger] in for _ in 0..<times { try ledger.addPatiently(1) } }
            }
            let answers = try processes.filter { $0 > 0 }.map { try answer(of: other($0)) }
            return answers.first { $0 != "done" } ?? "done"
        case .hold(let number, let process):
            if process == 0 {
                held = try HeldTransaction(ledger, adding: number, within: patience)
                return "done"
            }
            let answer = try ask(process, "keep \(number)")
            if answer == "done" { holder = process }
            return answer
        case .end(let commits): return try end(commits)
        case .queue(let number, let process, let commits): return try queue(number, process, commits)
        case .kill(let process):
            try other(process).kill()
            others[process] = nil
            if holder == process { holder = nil }
            return "done"
        case .killCommitting(let process, let count): return try killCommitting(process, count)
        case .observe(let number, let process): return try observe(number, process)
        case .reopen:
            for ledger in hasty.values { try ledger.database.close() }
            hasty = [:]
            try ledger.database.close()
            ledger = try Self.open(target, location, waiting: .seconds(600))
            return "done"
        case .give(let posts, let process):
            let words = ["t", "-"] + posts.map { "\($0)" }
            if process > 0 { return try ask(process, "topic " + words.joined(separator: " ")) }
            return try elsewhere { [ledger] in try ledger.persistTopic(words.map { $0[...] }) }
        case .take(let post, let process):
            if process > 0 { return try ask(process, "erase \(post)") }
            return try elsewhere { [ledger] in try ledger.erasePost(post) }
        case .list(let process):
            return process > 0 ? try ask(process, "topics") : try elsewhere { [ledger] in try ledger.outline() }
        case .publish(let build, let id, let number, let process):
            if process > 0 { return try ask(process, "publish \(build) \(id) \(number)") }
            return try elsewhere { [ledger] in try ledger.publish(build, id, number) }
        case .publishAtOnce(let publications):
            for each in publications where each.process > 0 {
                try other(each.process).say("publish \(each.build) \(each.id) \(each.number)")
            }
            let own = try publications.first { $0.process == 0 }.map { each in
                try elsewhere { [ledger] in try ledger.publish(each.build, each.id, each.number) }
            }
            return try publications.map { each in
                if each.process == 0 { return own ?? "" }
                var answer = try answer(of: other(each.process))
                // One that does not wait as long as the others take says so, and comes again.
                while answer == "busy" { answer = try ask(each.process, "publish \(each.build) \(each.id) \(each.number)") }
                return answer
            }.joined(separator: ", ")
        case .pamphlets(let build, let process):
            if process > 0 { return try ask(process, "pamphlets \(build)") }
            return try elsewhere { [ledger] in try ledger.pamphlets(build) }
        }
    }

    // MARK: Steps

    private func end(_ commits: Bool) throws -> String {
        if let held {
            self.held = nil
            return try held.end(commits: commits, within: patience)
        }
        guard let process = holder else { return "nobody is in a transaction" }
        holder = nil
        return try ask(process, commits ? "commit" : "rollback")
    }

    private func queue(_ number: Int, _ process: Int, _ commits: Bool) throws -> String {
        if process > 0 {
            try other(process).say("race 1 \(number)")
            let ended = try end(commits)
            let answer = try answer(of: other(process))
            return ended == "done" ? answer : ended
        }
        let adding = Background { [ledger] in try ledger.addPatiently(number) }
        let ended = try end(commits)
        try adding.wait(seconds: patience, "a transaction that waits for another")
        return ended
    }

    private func killCommitting(_ process: Int, _ count: Int) throws -> String {
        let other = try other(process)
        try other.say("batches")
        var last = ""
        for _ in 0..<count {
            last = try answer(of: other)
            try elsewhere { [ledger] in try ledger.addPatiently(1) }
        }
        other.kill()
        others[process] = nil
        // What it said before it was killed, and nobody has read yet.
        while let line = try other.line(within: Int(patience.rounded(.up))) { last = line }
        try elsewhere { [ledger] in try ledger.awaitLastBatch() }
        return last
    }

    private func observe(_ number: Int, _ process: Int) throws -> String {
        let before = try state().added
        let seen = ObservedCounter(ledger)
        defer { seen.stop() }
        guard seen.wait(for: before, seconds: patience) else { return seen.description }
        for _ in 0..<number {
            let answer = try run(.add(1, by: process))
            if answer != "done" { return answer }
        }
        return seen.wait(for: before + number, seconds: patience) ? "done" : seen.description
    }

    // MARK: Processes

    private func hastyLedger(_ milliseconds: Int) throws -> ProcessLedger {
        if let ledger = hasty[milliseconds] { return ledger }
        let ledger = try Self.open(target, location, waiting: .milliseconds(milliseconds))
        hasty[milliseconds] = ledger
        return ledger
    }

    private func other(_ process: Int) throws -> any ConformanceProcess { try require(others[process], "process \(process)") }

    private func answer(of other: any ConformanceProcess) throws -> String {
        try require(other.line(within: Int(patience.rounded(.up))), "a line from the other process, which has ended")
    }

    private func ask(_ process: Int, _ line: String) throws -> String {
        let other = try other(process)
        try other.say(line)
        return try answer(of: other)
    }

    /// Runs a body on a separate thread, outside of every transaction, with a time limit.
    private func elsewhere<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
        let result = Shared<Result?>(nil)
        try Background {
            let value = try body()
            result.change { $0 = value }
        }
        .wait(seconds: patience, "a call in this process")
        return try require(result.value, "a result")
    }
}
