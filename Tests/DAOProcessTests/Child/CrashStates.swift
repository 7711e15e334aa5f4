import DAOChildProcesses
import DAOCore
import DAOFileCalls
import DAOTestSupport
import Foundation

/// `states <kind> <durability> <count> <seed>`: records the calls of ``Work``, and opens the files that power cuts at
/// every call would leave.
///
/// It answers with each state before it looks at it, and with `broken` when a promise is broken. The last line is
/// `done` with the number of different states.
enum CrashStates {
    static func run(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 4, let kind = Place.Kind(rawValue: words[0]), let count = Int(words[2]), let seed = UInt64(words[3])
        else { throw ChildFailure("a kind of database, a durability, a number of states and a seed are missing") }
        let source = Place(kind)
        let calls = try FileCall.record(in: source) {
            let work = Work(source, "durability=\(words[1])")
            for step in Work.steps { try work.run(step) { dao_calls_mark($0) } }
        }
        answer("recorded \(calls.count)")
        var cuts = PowerCuts(kind, words[1], calls, seed)
        try cuts.run(count)
    }
}

/// The power cuts of a recorded program.
private struct PowerCuts {
    private let kind: Place.Kind
    private let durability: String
    private let calls: [FileCall]
    private var random: SeededGenerator
    private var seen: Set<Int> = []
    private var outcomes: [String: Int] = [:]

    init(_ kind: Place.Kind, _ durability: String, _ calls: [FileCall], _ seed: UInt64) {
        (self.kind, self.durability, self.calls) = (kind, durability, calls)
        random = SeededGenerator(seed: seed)
    }

    /// Looks at this many different states, spread over all calls.
    mutating func run(_ count: Int) throws {
        let stride = max(1, calls.count * 3 / count)
        let attempts = max(3, count / calls.count + 1)
        // Calls with few states are done after the first round.
        for round in 0..<50 where seen.count < count {
            try visit(every: stride, round * attempts..<(round + 1) * attempts)
        }
        let summary = outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        answer("done \(seen.count) states of \(calls.count) calls; \(summary)")
    }

    /// Looks at states before every so many calls.
    private mutating func visit(every stride: Int, _ attempts: Range<Int>) throws {
        var disk = Disk()
        var history = Work.History()
        let first = random.below(stride)
        for (number, call) in calls.enumerated() {
            if case .mark(let text) = call {
                try history.add(text)
                continue
            }
            defer { disk.add(call) }
            guard number % stride == first else { continue }
            for attempt in attempts where disk.pendingCount > 0 || attempt == 0 {
                let state = disk.state(attempt, &random)
                var hasher = Hasher()
                hasher.combine(history.commit)
                hasher.combine(history.counts.count)
                for (name, content) in state.contents.sorted(by: { $0.key < $1.key }) {
                    hasher.combine(name)
                    content.withUnsafeBytes { hasher.combine(bytes: $0) }
                }
                guard seen.insert(hasher.finalize()).inserted else { continue }
                let moment = (history.running.map { "in \($0)" } ?? "") + " after \(history.commit) commits"
                answer("state \(number) \(moment); \(state.description)")
                try look(state, history)
            }
        }
    }

    private mutating func look(_ state: Disk.State, _ history: Work.History) throws {
        let place = Place(kind)
        for (name, content) in state.contents {
            guard FileManager.default.createFile(atPath: place.path(name), contents: Data(content)) else {
                throw ChildFailure("the state cannot be written")
            }
        }
        // Nothing is synced, because nobody cuts the power now.
        dao_calls_watch(place.directory.path)
        defer { dao_calls_watch(nil) }
        do {
            let outcome = try Promises(kind, durability, history).check(place)
            outcomes[outcome, default: 0] += 1
        } catch {
            answer("broken: \(error)".replacing("\n", with: " "))
        }
    }
}
