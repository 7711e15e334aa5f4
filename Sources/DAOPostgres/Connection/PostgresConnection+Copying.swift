import DAOCore
import DAOSystemPostgres

extension PostgresConnection {
    /// The number of bytes of the data of COPY in one message.
    private static let partOfCopy = 1 << 16

    /// Writes rows with COPY, in the running transaction. When it fails, only what it has done is undone.
    ///
    /// - Parameters:
    ///   - text: The statement.
    ///   - rows: The rows, in the binary form of COPY, without its end.
    /// - Throws: ``ServerError``.
    func copy(_ text: String, _ rows: [UInt8]) throws {
        // libpq has no COPY in its pipeline mode. What waits to be sent goes before.
        try sendPending()
        let timer = StatementTimer.isUsed ? StatementTimer.begin() : nil
        defer { timer?.end(text, runs: 1) }
        do {
            try send(copy: "SAVEPOINT dao_call; \(text); RELEASE dao_call", rows)
        } catch let error as ServerError {
            do {
                _ = try send([.text("ROLLBACK TO dao_call"), .text("RELEASE dao_call")], 0)
            } catch {
                fault = fault ?? (error as? ServerError)?.storageError(path: path) ?? error
            }
            throw error
        }
    }

    /// Sends the statements of COPY and the rows, outside of libpq's pipeline mode.
    private func send(copy text: String, _ rows: [UInt8]) throws {
        guard PQexitPipelineMode(pointer) == 1 else { throw lost("") }
        defer { PQenterPipelineMode(pointer) }
        let patience = Patience(settings.patience, isCancellable: CallCancellation.isPossible)
        var isDone = false
        var failure: ServerError?
        guard PQsendQuery(pointer, text) == 1 else { throw lost("") }
        while let result = nextResult(patience) {
            switch PQresultStatus(result) {
            case PGRES_COPY_IN: if !put(rows) { abandon() }
            case PGRES_COMMAND_OK: isDone = String(cString: PQcmdStatus(result)) == "RELEASE"
            default: failure = failure ?? ServerError(result)
            }
            PQclear(result)
        }
        // A cancellation that is still under way would hit a later command.
        if !patience.endCancelling() { abandon() }
        if var failure {
            failure.isCancelled = patience.hasCancelled && failure.state == "57014"
            throw failure
        }
        if !isDone { throw lost(patience.isOver ? "the server has stopped answering" : "") }
    }

    private func lost(_ message: String) -> ServerError {
        ServerError(state: "", message: message.isEmpty ? String(cString: PQerrorMessage(pointer)) : message)
    }

    /// Sends the data of COPY. What the server does not take at once is sent while its answer is waited for.
    private func put(_ rows: [UInt8]) -> Bool {
        rows.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: Self.partOfCopy).allSatisfy { start in
                let part = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Self.partOfCopy, bytes.count)])
                return part.withMemoryRebound(to: CChar.self) {
                    PQputCopyData(pointer, $0.baseAddress, Int32($0.count)) == 1 && PQflush(pointer) >= 0
                }
            }
        } && Parameters.endOfCopy.withUnsafeBufferPointer { PQputCopyData(pointer, $0.baseAddress, Int32($0.count)) == 1 }
            && PQputCopyEnd(pointer, nil) == 1
    }
}
