import DAOChildProcesses
import DAOCore
import DAOFileCalls
import DAOTestSupport
import Foundation

/// What can happen to a call on a file.
enum FileFault: String {
    /// The disk fails.
    case io
    /// The disk is full.
    case space
    /// The process may open no more files.
    case descriptors
    /// A signal comes.
    case interrupt
    /// Half of the bytes are written.
    case short
    /// The call takes longer.
    case delay

    /// The number that the call returns.
    var code: Int32 {
        switch self {
        case .io: EIO
        case .space: ENOSPC
        case .descriptors: EMFILE
        case .interrupt: EINTR
        case .short: Int32(DAO_CALLS_SHORT)
        case .delay: Int32(DAO_CALLS_DELAY)
        }
    }

    /// The groups of calls to which it happens.
    var groups: Int32 {
        switch self {
        case .io, .delay: 1023
        case .space: Int32(DAO_CALLS_WRITE | DAO_CALLS_CREATE)
        case .descriptors: Int32(DAO_CALLS_OPEN)
        case .interrupt: Int32(DAO_CALLS_OPEN | DAO_CALLS_READ | DAO_CALLS_WRITE | DAO_CALLS_SYNC | DAO_CALLS_LOCK)
        case .short: Int32(DAO_CALLS_WRITE)
        }
    }
}

/// `faults <kind> <durability> <fault> once|forever <runs> <seed> [<last>]`: runs ``Work`` while a call on its files fails,
/// a separate time for each of so many calls, of all or of those up to the last.
///
/// It answers with each call before it fails, and with `broken` when a promise is broken. The last line is `done` with
/// the number of calls.
enum Faults {
    static func run(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 6 || words.count == 7, let kind = Place.Kind(rawValue: words[0]),
            let fault = FileFault(rawValue: words[2]),
            let runs = Int(words[4]), let seed = UInt64(words[5])
        else {
            throw ChildFailure("a kind of database, a durability, a fault, how often, a number of runs and a seed are missing")
        }
        let total = min(try count(kind, words[1], fault), words.count == 7 ? Int(words[6]) ?? .max : .max)
        var random = SeededGenerator(seed: seed)
        let stride = max(1, total / runs)
        var outcomes: [String: Int] = [:]
        var done = 0
        for number in Swift.stride(from: random.below(stride) + 1, through: total, by: stride) {
            let run = FaultRun(kind, words[1], fault, isForEver: words[3] == "forever")
            answer("call \(number)")
            do {
                outcomes[try run.run(number), default: 0] += 1
            } catch {
                let call = run.changed.map { "at \($0) " } ?? ""
                answer("broken: \(call)\(run.errors.joined(separator: ", ")): \(error)".replacing("\n", with: " "))
            }
            done += 1
        }
        let summary = outcomes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        answer("done \(done) of \(total) calls; \(summary)")
    }

    /// Counts the calls of ``Work`` that a fault can happen to.
    private static func count(_ kind: Place.Kind, _ durability: String, _ fault: FileFault) throws -> Int {
        let place = Place(kind)
        let work = Work(place, "durability=\(durability)")
        dao_calls_watch(place.directory.path)
        defer { dao_calls_watch(nil) }
        dao_calls_fail(fault.groups, 0, 0, 0)
        for step in Work.steps { try work.run(step) }
        return Int(dao_calls_count())
    }
}

/// A run of ``Work`` while one call fails, or that and all later ones.
private final class FaultRun {
    /// The kinds of error of a disk that fails. Others would tell the application something else. SQLite uses a log that it
    /// cannot open for writing for reading only.
    private static let acceptedKinds: Set<StorageError.Kind> = [.io, .outOfSpace, .outcomeUnknown, .busy, .closed, .readOnly]

    private let kind: Place.Kind
    private let durability: String
    private let fault: FileFault
    private let isForEver: Bool
    /// The errors of the steps, with the step.
    private(set) var errors: [String] = []
    /// The call that failed.
    private(set) var changed: String?

    init(_ kind: Place.Kind, _ durability: String, _ fault: FileFault, isForEver: Bool) {
        (self.kind, self.durability, self.fault, self.isForEver) = (kind, durability, fault, isForEver)
    }

    /// Lets a call fail, and throws when a promise is broken.
    ///
    /// - Returns: What the application was told, in a word.
    func run(_ number: Int) throws -> String {
        let place = Place(kind)
        let work = Work(place, "durability=\(durability)&timeout=0.2")
        dao_calls_watch(place.directory.path)
        defer { dao_calls_watch(nil) }
        dao_calls_fail(fault.groups, UInt64(number), fault.code, isForEver ? 1 : 0)
        var failures = 0
        var outcome = "no error"
        for step in Work.steps {
            do {
                try work.run(step)
            } catch {
                failures += 1
                changed = dao_calls_changed().map { String(cString: $0) }
                let kind = try expected(error, step)
                if failures == 1 { outcome = kind.rawValue }
                if isForEver {
                    // Enough was tried while the fault lasts.
                    if failures == 4 { break }
                } else if failures > 1 {
                    throw ChildFailure("a single fault has disturbed two steps")
                }
                // Nothing can be known while the fault lasts.
                guard try recover(work, step, kind) else { break }
            }
        }
        changed = dao_calls_changed().map { String(cString: $0) }
        dao_calls_fail(0, 0, 0, 0)
        work.abandon()
        // No power was cut, so a relaxed commit is there too.
        _ = try Promises(kind, "full", work.history).check(place)
        return outcome
    }

    private func expected(_ error: any Error, _ step: Work.Step) throws -> StorageError.Kind {
        guard let error = error as? StorageError else { throw ChildFailure("\(step) has thrown \(error)") }
        errors.append("\(step): \(error.kind) \(error.engineMessage ?? error.message)")
        // SQLite itself takes a lasting failure to read for damage.
        let isTakenForDamage = kind.isSQLite && fault == .io && isForEver && error.kind == .corrupted
        guard Self.acceptedKinds.contains(error.kind) && fault != .delay || isTakenForDamage else {
            throw ChildFailure("\(step) was \(error.kind): \(error)")
        }
        return error.kind
    }

    /// Does what the error advises, and runs the step again if the fault is over. An error that comes again is advice to
    /// close the database and open it again.
    ///
    /// - Returns: Whether it is known what became of the step.
    private func recover(_ work: Work, _ step: Work.Step, _ kind: StorageError.Kind, _ isSecond: Bool = false) throws -> Bool {
        if isSecond || kind == .io || kind == .outcomeUnknown { work.abandon() }
        do {
            let isDone = try work.resolve(step)
            if isDone, step == .commit, kind != .outcomeUnknown { throw ChildFailure("a commit that failed was stored") }
            if !isDone, !isForEver { try work.run(step) }
            return true
        } catch let error as StorageError {
            if isForEver { return false }
            errors.append("again: \(error.kind)")
            if !isSecond { return try recover(work, step, kind, true) }
            throw ChildFailure("after it, \(step) was \(error)")
        }
    }
}
