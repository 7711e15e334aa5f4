import DAOConformance

/// One step of several processes on one database. Process 0 is this one; no other process runs at first.
///
/// A step that is not possible, such as a step of a process that does not run, is left out.
public enum ProcessStep: Sendable, Hashable {
    /// Starts a process.
    case start(Int)
    /// Adds to the counter, in a separate transaction. While another process is in a transaction, the counter
    /// does not change, and the process is busy after its timeout. `waiting`, in milliseconds, is the timeout
    /// of another handle that this process opens.
    case add(Int, by: Int, waiting: Int? = nil)
    /// Reads the committed state, also during a transaction of another process.
    case read(by: Int)
    /// All processes add one to the counter, several times, concurrently.
    case race([Int], times: Int)
    /// Begins a transaction, adds to the counter, and keeps the transaction open.
    case hold(Int, by: Int)
    /// Ends that transaction.
    case end(commits: Bool)
    /// Adds to the counter while another process ends its transaction.
    case queue(Int, by: Int, commits: Bool)
    /// Kills a process at any point.
    case kill(Int)
    /// Lets a process commit batches, adds to the counter here after each of the first batches, and kills the
    /// process during the next one.
    case killCommitting(Int, after: Int)
    /// Lets a process add to the counter several times while this process observes it.
    case observe(Int, by: Int)
    /// Closes the database of this process and opens it again.
    case reopen
    /// Stores a topic with these posts. The process opens the relationship if it has not done so before.
    case give([Int], by: Int)
    /// Erases a post.
    case take(Int, by: Int)
    /// Reads the topic with its posts.
    case list(by: Int)
    /// Stores a pamphlet, with an id and a number, through the model of one build of the application. The process
    /// opens that model if it has not done so before.
    case publish(ConformanceProcesses.Build, Int, Int, by: Int)
    /// Several processes store pamphlets at once, each through the model of its build: as when builds of the application start in
    /// the same moment.
    case publishAtOnce([Publication])
    /// Reads the pamphlets through the model of a build.
    case pamphlets(ConformanceProcesses.Build, by: Int)
}

extension ProcessStep {
    /// A pamphlet that a process stores.
    public struct Publication: Sendable, Hashable {
        var build: ConformanceProcesses.Build
        var id: Int
        var number: Int
        var process: Int

        /// Describes a pamphlet and who stores it.
        public init(_ build: ConformanceProcesses.Build, _ id: Int, _ number: Int, by process: Int) {
            (self.build, self.id, self.number, self.process) = (build, id, number, process)
        }
    }
}

extension ProcessStep.Publication: SwiftSource {
    /// The publication as an expression.
    var source: String { ".init(.\(build), \(id), \(number), by: \(process))" }
}

extension ProcessStep: ReplayedStep {
    /// With fewer of what is done at once.
    var smallerForms: [[Self]] {
        if case .publishAtOnce(let publications) = self { publications.smaller().map { [.publishAtOnce($0)] } } else { [] }
    }

    /// The step as Swift, without the default of an argument.
    var source: String { SwiftLiteral.source(self).replacing(", waiting: nil", with: "") }
}
