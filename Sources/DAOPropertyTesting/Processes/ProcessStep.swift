/// One step of several processes on one database. Process 0 is this one; none of the others runs at first.
///
/// A step that makes no sense where it stands, such as one of a process that does not run, is left out.
public enum ProcessStep: Sendable, Hashable {
    /// Starts a process.
    case start(Int)
    /// Adds to the counter, in a transaction of its own. While another process is in one, the counter stays
    /// as it is and the process is busy, after its time. `waiting`, in milliseconds, is that of a database
    /// that this process opens beside its own.
    case add(Int, by: Int, waiting: Int? = nil)
    /// Reads what is committed, whoever is in a transaction.
    case read(by: Int)
    /// Each of the processes adds one to the counter, so often, all at the same time.
    case race([Int], times: Int)
    /// Begins a transaction that adds to the counter, and stays in it.
    case hold(Int, by: Int)
    /// Ends that transaction.
    case end(commits: Bool)
    /// Adds to the counter while another process is in its transaction, which is ended meanwhile.
    case queue(Int, by: Int, commits: Bool)
    /// Kills a process, wherever it is.
    case kill(Int)
    /// Lets a process commit batch after batch, adds to the counter here after each of the first, and kills
    /// it in the middle of the next.
    case killCommitting(Int, after: Int)
    /// Lets a process add to the counter, so often, while this one observes it.
    case observe(Int, by: Int)
    /// Closes the database of this process and opens it again.
    case reopen
    /// Stores a topic with these posts. A process that has not done so before opens the relationship for it.
    case give([Int], by: Int)
    /// Erases a post.
    case take(Int, by: Int)
    /// Reads the topic with its posts.
    case list(by: Int)
}

extension ProcessStep: ReplayedStep {
    /// The step as Swift.
    var source: String {
        switch self {
        case .start(let process): ".start(\(process))"
        case .add(let number, let process, let waiting):
            ".add(\(number), by: \(process)" + (waiting.map { ", waiting: \($0)" } ?? "") + ")"
        case .read(let process): ".read(by: \(process))"
        case .race(let processes, let times): ".race(\(processes), times: \(times))"
        case .hold(let number, let process): ".hold(\(number), by: \(process))"
        case .end(let commits): ".end(commits: \(commits))"
        case .queue(let number, let process, let commits): ".queue(\(number), by: \(process), commits: \(commits))"
        case .kill(let process): ".kill(\(process))"
        case .killCommitting(let process, let count): ".killCommitting(\(process), after: \(count))"
        case .observe(let number, let process): ".observe(\(number), by: \(process))"
        case .reopen: ".reopen"
        case .give(let posts, let process): ".give(\(posts), by: \(process))"
        case .take(let post, let process): ".take(\(post), by: \(process))"
        case .list(let process): ".list(by: \(process))"
        }
    }
}
