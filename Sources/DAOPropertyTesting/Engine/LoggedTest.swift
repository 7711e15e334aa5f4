import DAOConformance
import DAOCore

/// The steps of another test on a database whose changes are logged: what the log says is applied to a copy that was made before the
/// first step, which then has the same rows and links.
struct LoggedTest<Base: ModelBasedTest>: ModelBasedTest {
    var base: Base

    var target: ConformanceTarget { base.target }

    func script(seed: UInt64, operations: Int) -> [Base.Step] { base.script(seed: seed, operations: operations) }

    func begin(_ script: [Base.Step], at location: ConformanceTarget.Location) throws -> LoggedSession<Base.Session>? {
        guard let session = try base.begin(script, at: location) else { return nil }
        do {
            return try LoggedSession(session) { try target.open(location.appending("log")) }
        } catch {
            session.close()
            throw error
        }
    }

    func shrinking(isHasty: Bool) -> Self { LoggedTest(base: base.shrinking(isHasty: isHasty)) }
    func plainerScripts(than script: [Base.Step]) -> [[Base.Step]] { base.plainerScripts(than: script) }
    func smallerScripts(than script: [Base.Step]) -> [[Base.Step]] { base.smallerScripts(than: script) }

    func source(of failure: FailedScript<Base.Step>) -> ScriptSource {
        let source = base.source(of: failure)
        // What is printed as calls, and not as steps, says nothing of the log: the seed repeats it.
        let body = source.body.replacing(", on: target)", with: ", on: target, isLogged: true)")
        return ScriptSource(declarations: source.declarations, body: body)
    }
}

/// A database, its reference model, and a copy that applies the log.
struct LoggedSession<Base: ModelBasedSession>: ModelBasedSession {
    private var base: Base
    /// The copy; nil where nothing can be copied, or where a log does not outlive a database that is opened again.
    private let copy: (any Database)?
    private var count = 0

    init(_ base: Base, open: () throws -> any Database) throws {
        self.base = base
        guard let database = base.verified, database.capabilities.hasEvolution, database.capabilities.isPersistent else {
            copy = nil
            return
        }
        try database.log(database.entities().filter { !$0.isOwn }.map(\.name), .values)
        let copy = try open()
        do {
            _ = try database.copy(to: copy)
        } catch {
            try? copy.close()
            throw error
        }
        self.copy = copy
    }

    var verified: (any Database)? { base.verified }
    var hasUnreadable: Bool { base.hasUnreadable }

    func close() {
        try? copy?.close()
        base.close()
    }

    mutating func run(_ step: Base.Step, isLast: Bool) -> Difference<Base.Step>? {
        count += 1
        if let difference = base.run(step, isLast: isLast) { return difference }
        guard isLast || count % 8 == 0, let copy, let database = base.verified else { return nil }
        do {
            try Self.apply(database, to: copy)
            if isLast { _ = try database.snapshot { try database.compare(with: copy) } }
            return nil
        } catch {
            return Difference(expected: "a copy that is the same once the log is applied", got: "\(error)")
        }
    }

    private static func apply(_ database: any Database, to copy: any Database) throws {
        while true {
            let last = try copy.appliedPosition(of: "main")
            let changes = try database.changes(after: last, limit: 50, keepsTransactions: true)
            if changes.isEmpty { return }
            try copy.apply(changes, origin: "main")
        }
    }
}
