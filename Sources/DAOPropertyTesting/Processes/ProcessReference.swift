import DAOConformance

/// What several processes are to have made of one database: two numbers, a list, and who is in a transaction.
struct ProcessReference {
    /// What is to come of a step.
    struct Expectation {
        /// What the process says.
        var answer = "done"
        /// How long that takes at least.
        var atLeast: Duration = .zero
    }

    private struct Pamphlet {
        var title = ""
        // What rows have that were stored without the fields.
        var body = "-"
        var mark: Int?
    }

    /// How long other processes wait for each other's transactions.
    let wait: Duration
    /// Whether a transaction waits for those of other processes. Where writers run side by side, none is kept open: which of two
    /// that meet is `conflict` is not promised.
    let takesTurns: Bool
    /// What is committed.
    private(set) var state = ProcessLedger.State()
    /// The topic's posts; nil before there is a topic.
    private(set) var posts: [Int]?
    /// The processes that run.
    private(set) var running: Set<Int> = [0]
    /// Who is in a transaction, and what it adds.
    private(set) var holder: (process: Int, number: Int)?
    /// The pamphlets by their ids.
    private var pamphlets: [Int: Pamphlet] = [:]
    /// Which model of pamphlets the processes have open.
    private var builds: [Int: ConformanceProcesses.Build] = [:]
    /// Whether one batch more may have been committed: the process was killed before it could say.
    private var mayHaveOneMore = false

    init(wait: Duration, takesTurns: Bool = true) { (self.wait, self.takesTurns) = (wait, takesTurns) }

    /// Whether a wait of a process that times out is short.
    private var othersAreHasty: Bool { wait <= .seconds(1) }

    /// Whether a step makes sense now.
    func allows(_ step: ProcessStep) -> Bool {
        func isFree(_ process: Int) -> Bool { running.contains(process) && holder?.process != process }
        func canFail(_ process: Int) -> Bool { process > 0 && othersAreHasty }
        switch step {
        case .start(let process): return process > 0 && !running.contains(process)
        case .add(_, let process, let waiting):
            return isFree(process) && (holder == nil || (process == 0 ? waiting != nil : canFail(process)))
        case .read(let process): return isFree(process) || process == 0
        case .race(let processes, _): return holder == nil && running.isSuperset(of: processes)
        case .hold(_, let process): return takesTurns && isFree(process) && (holder == nil || canFail(process))
        case .end: return holder != nil
        case .queue(_, let process, _): return holder != nil && isFree(process)
        case .kill(let process): return process > 0 && running.contains(process)
        case .killCommitting(let process, _): return holder == nil && process > 0 && running.contains(process)
        case .observe(_, let process), .give(_, let process), .take(_, let process), .list(let process),
            .publish(_, _, _, let process), .pamphlets(_, let process):
            return holder == nil && running.contains(process)
        case .publishAtOnce(let publications):
            // Of two that write one row, which is first is not known; and a process does one thing at a time.
            return holder == nil && running.isSuperset(of: publications.map(\.process))
                && Set(publications.map(\.id)).count == publications.count
                && Set(publications.map(\.process)).count == publications.count
        case .reopen: return holder?.process != 0
        }
    }

    /// Does a step that makes sense.
    mutating func run(_ step: ProcessStep) -> Expectation {
        var expectation = Expectation()
        switch step {
        case .start(let process): running.insert(process)
        case .add(let number, let process, let waiting):
            if holder != nil { return busy(process, waiting) }
            state.added += number
        case .read: expectation.answer = state.description
        case .race(let processes, let times): state.added += processes.count * times
        case .hold(let number, let process):
            if holder != nil { return busy(process, nil) }
            holder = (process, number)
        case .end(let commits): end(commits)
        case .queue(let number, _, let commits):
            end(commits)
            state.added += number
        case .kill(let process):
            running.remove(process)
            builds[process] = nil
            if holder?.process == process { holder = nil }
        case .killCommitting(let process, let count):
            running.remove(process)
            builds[process] = nil
            state.added += count
        case .observe(let number, _): state.added += number
        case .reopen: builds[0] = nil
        case .give(let posts, _): self.posts = posts
        case .take(let post, _):
            expectation.answer = posts?.contains(post) == true ? "1" : "0"
            posts?.removeAll { $0 == post }
        case .list: expectation.answer = posts.map { "t of nobody: \($0) in \($0.count) and 1 links" } ?? ""
        case .publish(let build, let id, let number, let process):
            expectation.answer = opens(build, process) ? publish(build, id, number) : "schemaMismatch"
        case .publishAtOnce(let publications):
            expectation.answer = publications.map {
                opens($0.build, $0.process) ? publish($0.build, $0.id, $0.number) : "schemaMismatch"
            }.joined(separator: ", ")
        case .pamphlets(let build, let process):
            expectation.answer = opens(build, process) ? texts(build).joined(separator: ", ") : "schemaMismatch"
        }
        return expectation
    }

    /// Takes over how many batches a process had committed before it was killed: those it said, and perhaps
    /// the next.
    mutating func commit(batches: Int) {
        state.batches = batches
        mayHaveOneMore = true
    }

    /// Whether this may be what is committed; from then on it is.
    mutating func accepts(_ found: ProcessLedger.State) -> Bool {
        defer { mayHaveOneMore = false }
        if mayHaveOneMore, found.batches == state.batches + 1 { state.batches += 1 }
        return found == state
    }

    private func busy(_ process: Int, _ waiting: Int?) -> Expectation {
        Expectation(answer: "busy", atLeast: process == 0 ? .milliseconds(waiting ?? 0) : wait)
    }

    /// Opens the model of a build, unless the process has another declaration of the entity open.
    private mutating func opens(_ build: ConformanceProcesses.Build, _ process: Int) -> Bool {
        let whole = build == .part ? .newer : build
        defer { builds[process] = builds[process] ?? whole }
        return builds[process] ?? whole == whole
    }

    private mutating func publish(_ build: ConformanceProcesses.Build, _ id: Int, _ number: Int) -> String {
        // A part without the title, which is required, inserts no row.
        if build == .part, pamphlets[id] == nil { return "unsupported" }
        var pamphlet = pamphlets[id] ?? Pamphlet()
        if build != .part { pamphlet.title = "t\(number)" }
        if build != .older { pamphlet.body = "b\(number)" }
        if build == .newer { pamphlet.mark = number % 2 == 0 ? number : nil }
        pamphlets[id] = pamphlet
        return "done"
    }

    private func texts(_ build: ConformanceProcesses.Build) -> [String] {
        pamphlets.sorted { $0.key < $1.key }.map { id, pamphlet in
            switch build {
            case .older: "\(id) \(pamphlet.title)"
            case .newer: "\(id) \(pamphlet.title) \(pamphlet.body) \(pamphlet.mark.map { "\($0)" } ?? "-")"
            case .part: "\(id) \(pamphlet.body)"
            case .indexed: "\(id) \(pamphlet.title) \(pamphlet.body)"
            }
        }
    }

    private mutating func end(_ commits: Bool) {
        if commits { state.added += holder?.number ?? 0 }
        holder = nil
    }
}
