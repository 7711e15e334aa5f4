import DAOChildProcesses
import DAOConformance
import DAOCore
import DAOFileCalls
import DAOTestSupport
import Foundation

/// What a stranger does to the file of a database that three processes have open.
enum Hand: String {
    /// Moves the file to another name.
    case rename
    /// Removes the file.
    case remove
    /// Puts another database in its place.
    case replace
    /// Cuts the file in half.
    case truncate
    /// Takes all permissions away.
    case permissions
    /// Locks the file.
    case lock
    /// Opens and closes the file in the same process.
    case close

    fileprivate func act(_ place: Place) {
        let path = place.file.path
        switch self {
        case .rename: Foundation.rename(path, path + ".moved")
        case .remove: unlink(path)
        case .replace: Foundation.rename(path + ".other", path)
        case .truncate:
            var status = stat()
            if stat(path, &status) == 0 { Foundation.truncate(path, status.st_size / 2) }
        case .permissions: chmod(path, 0)
        case .lock:
            // Of the open file, so that it also stands in the way of this process.
            let descriptor = open(path, O_RDWR | O_CLOEXEC)
            dao_lock_file(descriptor)
            Self.locked.withLock { $0 = descriptor }
        case .close: Foundation.close(open(path, O_RDONLY | O_CLOEXEC))
        }
    }

    /// The descriptor with the lock; negative when there is none.
    private static let locked = Lock<Int32>(-1)

    /// Lets go of what was locked.
    fileprivate static func release() {
        locked.withLock {
            if $0 >= 0 { Foundation.close($0) }
            $0 = -1
        }
    }
}

/// `hands <kind> <hand> <runs> <seed> <number>`: commits in three processes that have a file open while a stranger acts
/// before a call of this process on the file, a separate time for each of so many calls, from a number on.
///
/// It answers with each call and its directory before it runs, and with `broken` when a promise is broken. The last line is `done` with the
/// number of calls.
enum Hands {
    /// What the stranger does, and where.
    private static let chosen = Lock<(hand: Hand, place: Place)?>(nil)

    static func run(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 5, let kind = Place.Kind(rawValue: words[0]), let hand = Hand(rawValue: words[1]),
            let runs = Int(words[2]), let seed = UInt64(words[3]), let start = Int(words[4])
        else { throw ChildFailure("a kind of database, a hand, a number of runs, a seed and a number of a call are missing") }
        let total = try HandRun(kind, hand).run(0)
        var random = SeededGenerator(seed: seed)
        let stride = max(1, total / runs)
        var outcomes: [String: Int] = [:]
        var done = 0
        for number in Swift.stride(from: random.below(stride) + 1, through: total, by: stride) where number >= start {
            let run = try HandRun(kind, hand)
            answer("call \(number) \(run.place.directory.path)")
            do {
                try run.run(number)
                outcomes[run.errors.joined(separator: "/"), default: 0] += 1
            } catch {
                answer("broken: \(run.errors.joined(separator: "/")): \(error)".replacing("\n", with: " "))
            }
            done += 1
        }
        let summary = outcomes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        answer("done \(done) of \(total) calls; \(summary)")
    }

    /// Lets a stranger act before a call.
    fileprivate static func arm(_ hand: Hand, _ place: Place, _ number: Int) {
        chosen.withLock { $0 = (hand, place) }
        dao_calls_act(1023, UInt64(number)) {
            if let chosen = Hands.chosen.withLock({ $0 }) { chosen.hand.act(chosen.place) }
        }
    }
}

/// A run of three processes in which a stranger acts once.
private final class HandRun {
    private let kind: Place.Kind
    private let hand: Hand
    private let others: [ChildProcess]
    let place: Place
    /// The errors that ended the work of the processes.
    private(set) var errors: [String] = []
    /// The number of the last commit that has returned to any process.
    private var acknowledged = 0
    private var isUnknown = false

    init(_ kind: Place.Kind, _ hand: Hand) throws {
        (self.kind, self.hand) = (kind, hand)
        others = try (0..<2).map { _ in try ChildProcess(URL(fileURLWithPath: CommandLine.arguments[0]), ["worker"]) }
        place = Place(kind)
    }

    /// Whether the system may end the processes: LMDB reads through a map, and a part of the file was cut off.
    private var mayEnd: Bool { kind == .lmdb && hand == .truncate }

    /// Lets the stranger act before a call, and throws when a promise is broken.
    ///
    /// - Parameter number: The number of the call; 0 for no act.
    /// - Returns: The number of calls.
    @discardableResult func run(_ number: Int) throws -> Int {
        let url = place.url("timeout=0.5")
        for name in ["test.db", "test.db.other"] {
            let ledger = try Ledger(place.url(file: name))
            if name == "test.db.other" { try ledger.increment(by: 1000) }
            try ledger.database.close()
        }
        for other in others { _ = try ask(other, "open \(url)") }
        for other in others { try other.say("run 4") }
        let worker = Worker()
        dao_calls_watch(place.directory.path)
        try worker.open(url)
        Hands.arm(hand, place, number)
        for _ in 0..<5 {
            try worker.step()
            Hand.release()
        }
        worker.close()
        let total = Int(dao_calls_count())
        // The number of calls depends on the other processes.
        let hasActed = dao_calls_changed() != nil
        dao_calls_watch(nil)
        Hand.release()
        note(worker.acknowledged, worker.error?.kind.rawValue ?? "none")
        for other in others { try note(other) }
        for other in others where !mayEnd { _ = try ask(other, "close") }
        for other in others where mayEnd { other.kill() }
        if hand == .permissions { chmod(place.file.path, 0o644) }
        try check(hasActed: hasActed)
        return total
    }

    private func ask(_ other: ChildProcess, _ line: String) throws -> String {
        try other.say(line)
        guard let answer = try other.line() else { throw ChildFailure("another process ended at '\(line)'") }
        return answer
    }

    private func note(_ other: ChildProcess) throws {
        guard let answer = try other.line() else {
            if mayEnd { return errors.append("ended") }
            throw ChildFailure("another process ended")
        }
        let words = answer.split(separator: " ").map(String.init)
        guard words.count == 2, let count = Int(words[0]) else { throw ChildFailure(answer) }
        note(count, words[1])
    }

    private func note(_ count: Int, _ error: String) {
        acknowledged = max(acknowledged, count)
        errors.append(error)
        if error == "outcomeUnknown" { isUnknown = true }
    }

    /// Looks at the file that was open, and at what a new opener finds.
    private func check(hasActed: Bool) throws {
        let moved = place.file.path + ".moved"
        switch hand {
        case .rename where hasActed:
            if FileManager.default.fileExists(atPath: moved) { try expect("test.db.moved", acknowledged) }
            try expectWorking(from: 0)
        case .remove where hasActed: try expectWorking(from: 0)
        case .replace where hasActed: try expectWorking(from: 1000)
        case .truncate where hasActed:
            // The rows are lost. The error says so, or the file was still empty.
            do { try expectWorking(from: 0) } catch is StorageError {}
        default: try expect("test.db", acknowledged)
        }
    }

    /// Expects the commits that were acknowledged.
    private func expect(_ name: String, _ count: Int) throws {
        let ledger = try Ledger(place.url(file: name))
        defer { try? ledger.database.close() }
        let found = try ledger.count()
        guard found == count || isUnknown && found > count, try ledger.isWhole(), try ledger.database.verify().isSound else {
            throw ChildFailure("\(name) has \(found) transactions, \(count) were acknowledged")
        }
    }

    /// Expects a database at the path that can be used.
    private func expectWorking(from first: Int) throws {
        let ledger = try Ledger(place.url())
        defer { try? ledger.database.close() }
        let count = try ledger.count()
        guard count >= first, try first > 0 || ledger.isWhole() else {
            throw ChildFailure("\(count) transactions are in the file at the path")
        }
        try ledger.increment()
        guard try ledger.count() == count + 1, try ledger.database.verify().isSound else {
            throw ChildFailure("the file at the path does not keep a commit")
        }
    }
}
