/// A rule of the contract.
public struct ContractRule: Sendable, Hashable, Codable, Identifiable {
    /// The chapters of the contract, by their letters.
    public enum Chapter: String, Sendable, Hashable, Codable, CaseIterable {
        /// Keys.
        case keys = "K"
        /// Values.
        case values = "V"
        /// Predicates.
        case predicates = "P"
        /// Queries.
        case queries = "Q"
        /// Writes.
        case writes = "W"
        /// Relationships.
        case relationships = "R"
        /// Transactions.
        case transactions = "T"
        /// Observation.
        case observation = "O"
        /// Evolution.
        case evolution = "E"
        /// Concurrency.
        case concurrency = "C"
        /// Life cycle and faults.
        case lifeCycle = "L"
        /// Servers.
        case servers = "N"
        /// Search.
        case search = "S"
        /// The log of changes.
        case changes = "D"

        /// The heading of the chapter.
        public var title: String {
            switch self {
            case .keys: "Keys"
            case .values: "Values"
            case .predicates: "Predicates"
            case .queries: "Queries"
            case .writes: "Writes"
            case .relationships: "Relationships"
            case .transactions: "Transactions"
            case .observation: "Observation"
            case .evolution: "Evolution"
            case .concurrency: "Concurrency"
            case .lifeCycle: "Life cycle and faults"
            case .servers: "Servers"
            case .search: "Search"
            case .changes: "Changes"
            }
        }
    }

    /// The letter of the chapter and a number, such as `K3`.
    public let id: String
    /// The rule in a few words.
    public let title: String

    /// The chapter that the rule belongs to.
    public var chapter: Chapter { Chapter(rawValue: String(id.prefix(1))) ?? .keys }

    init(_ id: String, _ title: String) {
        self.id = id
        self.title = title
    }

    /// Every rule of the contract, in its order.
    public static let all: [ContractRule] = [
        ContractRule("K1", "one primary key: any integer, String or UUID"),
        ContractRule("K2", "keys order as numbers, as UTF-8 bytes, as UUID bytes"),
        ContractRule("K3", "string keys of 0 to 256 bytes, any scalar, byte by byte"),
        ContractRule("K4", "a key never changes"),
        ContractRule("V1", "values read back equal, bit for bit"),
        ContractRule("V2", "-0.0 is stored as 0.0"),
        ContractRule("V3", "nil is not empty; unknown raw values are corruptedValue"),
        ContractRule("V4", "arrays of scalars and Codable values embed"),
        ContractRule("P1", "two-valued logic with nil"),
        ContractRule("P2", "strings by bytes; one Unicode-aware folding"),
        ContractRule("P3", "numbers compare by value; NaN is the greatest"),
        ContractRule("P4", "in takes 0, 1 or 100,000 values"),
        ContractRule("P5", "predicates through relationships"),
        ContractRule("P6", "text predicates parse to the typed tree"),
        ContractRule("P7", "backends answer as the reference evaluator"),
        ContractRule("P8", "conditions on the elements of arrays"),
        ContractRule("P9", "conditions on members of Codable values"),
        ContractRule("P10", "conditions made at run time"),
        ContractRule("Q1", "results in key order; ties by key"),
        ContractRule("Q2", "nil first ascending, NaN after infinity"),
        ContractRule("Q3", "limits and offsets; negatives are refused"),
        ContractRule("Q4", "reading by keys keeps their order"),
        ContractRule("Q5", "keyset pages neither repeat nor skip"),
        ContractRule("Q6", "streams hold one snapshot in constant memory"),
        ContractRule("Q7", "aggregates agree with the full read"),
        ContractRule("Q8", "unreadable rows are reported, the others read"),
        ContractRule("Q9", "indexes over several fields change no answer"),
        ContractRule("Q10", "some fields of the rows, as the whole rows have them"),
        ContractRule("Q11", "different values, groups and their totals"),
        ContractRule("Q12", "explain says what the read does"),
        ContractRule("Q13", "sorts with a place for nil, without case, by conditions"),
        ContractRule("Q14", "a scope belongs to every read of its DAO"),
        ContractRule("W1", "create refuses a stored key, persist merges"),
        ContractRule("W2", "fields that the plain does not have survive"),
        ContractRule("W3", "every call is atomic"),
        ContractRule("W4", "a repeated key in one call"),
        ContractRule("W5", "erases and updates count rows"),
        ContractRule("W6", "unique fields refuse, nil never collides"),
        ContractRule("W7", "an outdated value is a conflict, and nothing is written"),
        ContractRule("W8", "a field is set in all rows that meet a condition"),
        ContractRule("W9", "code inside a write can write what is being written"),
        ContractRule("W10", "rows are replaced by others, and the call says what has changed"),
        ContractRule("R1", "a to-many holds exactly the children given, in order"),
        ContractRule("R2", "children are separate rows"),
        ContractRule("R3", "a dropped child is unlinked, erased only by cascade"),
        ContractRule("R4", "erasing unlinks and cascades safely"),
        ContractRule("R5", "parents with children in a fixed number of queries"),
        ContractRule("R6", "a list that was not read is nil, and is never written back"),
        ContractRule("R7", "owned rows are written with their parent, linked rows are not"),
        ContractRule("R8", "a to-one is the key of its row, and every rewrite keeps it"),
        ContractRule("R9", "a Reference is the key of a stored row, without the row"),
        ContractRule("R10", "erasing the row of a Reference does what its field says"),
        ContractRule("R11", "a read brings the lists and References that it names"),
        ContractRule("R12", "the rows that refer to a row"),
        ContractRule("R13", "rows with totals of their related rows"),
        ContractRule("T1", "all or nothing; the error is rethrown unchanged"),
        ContractRule("T2", "an inner transaction is a savepoint"),
        ContractRule("T3", "own writes inside, the last commit outside"),
        ContractRule("T4", "writers never lose an update"),
        ContractRule("T5", "misuse is invalidTransaction"),
        ContractRule("T6", "a commit is durable at the configured level"),
        ContractRule("T7", "the engine's own handle, inside and by its type only"),
        ContractRule("T8", "a retrying transaction runs again after a conflict"),
        ContractRule("T9", "asynchronous calls that share a commit are atomic, each with its own error"),
        ContractRule("O1", "an observation follows every change"),
        ContractRule("O2", "results in commit order, never missing the last"),
        ContractRule("O3", "changes come with the difference"),
        ContractRule("O4", "cancelling frees everything"),
        ContractRule("O5", "a closure is observed by what it reads, and never writes"),
        ContractRule("E1", "a database describes itself"),
        ContractRule("E2", "additive changes happen at open"),
        ContractRule("E3", "a changed type needs a migration step"),
        ContractRule("E4", "newer files are refused and unchanged"),
        ContractRule("E5", "a database copies itself into any other"),
        ContractRule("E6", "a model keeps the fields that it does not declare"),
        ContractRule("E7", "a model can be a part of an entity"),
        ContractRule("E8", "rows are read without the application's types"),
        ContractRule("E9", "what is kept from a catalog changes no answer, however the catalog has changed"),
        ContractRule("C1", "usable from any thread or task"),
        ContractRule("C2", "several processes share a database"),
        ContractRule("C3", "one configuration, one connection pool"),
        ContractRule("C4", "a read sees every commit that had returned when it began"),
        ContractRule("C5", "a cancelled read or transaction ends, and stores nothing"),
        ContractRule("C6", "each tenant of a set has its own database, a limited number is open"),
        ContractRule("C7", "reads are as new as a position of another process"),
        ContractRule("L1", "opening creates a database or throws a typed error"),
        ContractRule("L2", "closing waits; afterwards calls are closed"),
        ContractRule("L3", "a kill leaves the committed transactions"),
        ContractRule("L4", "out of space is typed and heals"),
        ContractRule("L5", "damaged bytes are corrupted, never a crash"),
        ContractRule("L6", "an encryption key is honoured or refused"),
        ContractRule("L7", "errors say the fault, its place and the next step"),
        ContractRule("L8", "a write to a file that was moved or replaced is detached"),
        ContractRule("L9", "a verification finds all damage, and none where there is none"),
        ContractRule("L10", "a backup is the last commit, whole, in one file"),
        ContractRule("L11", "a compaction changes the size of the file, and nothing else"),
        ContractRule("L12", "an instrument is told of every call, once"),
        ContractRule("L13", "a suspended database holds no locks until its next call"),
        ContractRule("L14", "an encrypted file has no plain page and opens with its key alone"),
        ContractRule("N1", "a connection that was lost while idle is replaced"),
        ContractRule("N2", "a transaction whose connection is lost leaves nothing, and the next one works"),
        ContractRule("N3", "a commit whose answer is lost is decided"),
        ContractRule("N4", "a cancelled task cancels its statement"),
        ContractRule("N5", "every wait for a server ends"),
        ContractRule("N6", "bodies of all clients run one after another, once"),
        ContractRule("N7", "of two transactions side by side that cannot both be, one is a conflict"),
        ContractRule("N8", "reads beside writers: in a transaction, a snapshot, and alone"),
        ContractRule("N9", "a user whom the server does not let in is notPermitted"),
        ContractRule("S1", "a search cuts texts into words as Unicode says"),
        ContractRule("S2", "a search ignores case, and marks where they are no letters"),
        ContractRule("S3", "operators of a search, and what is no complete query"),
        ContractRule("S4", "the best rows come first, with the same scores everywhere"),
        ContractRule("S5", "conditions filter what is found, and change no score"),
        ContractRule("S6", "a search sees one state, and refuses what it cannot do"),
        ContractRule("S7", "pages of a search keep scores and places"),
        ContractRule("S8", "a search finds what is stored, however it was written"),
        ContractRule("S9", "verify compares an index for searches with its rows"),
        ContractRule("S10", "a search in several entities scores their rows as those of one"),
        ContractRule("D1", "every write of a logged entity is in its log, once, in the same commit"),
        ContractRule("D2", "a position is greater than that of every change before it"),
        ContractRule("D3", "changes after a position come in order, and one that the log does not have is an error"),
        ContractRule("D4", "the log is trimmed to the slowest consumer, an age and a number"),
        ContractRule("D5", "changes of another database are applied once, whole, or refused with the row"),
        ContractRule("D6", "a copy follows its source beside writers, and takes over without a lost write"),
    ]

    /// Returns the rule with an id.
    ///
    /// - Parameter id: The id, such as `K3`.
    public static func named(_ id: String) -> ContractRule? { all.first { $0.id == id } }
}
