import DAOCore
import DAOSystemSQLite

/// The statements of a connection that instruments are told of. SQLite itself says when each begins and ends, those of the
/// library's transactions and of direct access included (`sqlite3_trace_v2`).
final class StatementTrace {
    /// The running statements: a cursor's stays among them while others run.
    private var timers: [OpaquePointer: StatementTimer] = [:]
    /// The statement that ended last. When SQLite finds that the schema has changed, it prepares the statement again and
    /// tells of a second end, but not of a second beginning.
    private var ended: (statement: OpaquePointer, timer: StatementTimer)?

    fileprivate func begin(_ statement: OpaquePointer) {
        ended = nil
        timers[statement] = StatementTimer.begin()
    }

    fileprivate func end(_ statement: OpaquePointer) {
        let repeated = ended.flatMap { $0.statement == statement ? $0.timer : nil }
        guard let timer = timers.removeValue(forKey: statement) ?? repeated else { return }
        ended = (statement, timer)
        var textWithValues: String?
        if timer.includesValues, let expanded = sqlite3_expanded_sql(statement) {
            textWithValues = String(cString: expanded)
            sqlite3_free(expanded)
        }
        timer.end(
            sqlite3_sql(statement).map { String(cString: $0) } ?? "", withValues: textWithValues, runs: repeated == nil ? 1 : 0,
            steps: Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)))
    }
}

extension SQLiteConnection {
    /// Lets SQLite tell of statements, from the first instrument of the process on.
    @inline(__always) func traceIfUsed() {
        if StatementTimer.isUsed, trace == nil { beginTracing() }
    }

    @inline(never) private func beginTracing() {
        let trace = StatementTrace()
        self.trace = trace
        sqlite3_trace_v2(
            handle, UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE),
            { event, context, statement, _ in
                guard let context, let statement else { return 0 }
                let trace = Unmanaged<StatementTrace>.fromOpaque(context).takeUnretainedValue()
                if event == UInt32(SQLITE_TRACE_STMT) {
                    trace.begin(OpaquePointer(statement))
                } else {
                    trace.end(OpaquePointer(statement))
                }
                return 0
            }, Unmanaged.passUnretained(trace).toOpaque())
    }
}
