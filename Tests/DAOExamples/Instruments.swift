// The code of Docs/Instruments.md.

import DAOCore

func openMeasured(_ url: String, _ drivers: DatabaseDrivers, slow: @escaping @Sendable (CallReport) -> Void) throws
    -> any Database
{
    var configuration = try DatabaseConfiguration(url: url)
    configuration.instrument = Instrument { call in
        if call.duration - call.waited > .milliseconds(20) { slow(call) }
    }
    return try drivers.open(configuration)
}

struct MeasuredEngine<Row> {
    /// Runs a statement of an engine and tells the instruments of the running call.
    func run(_ text: String, _ statement: () throws -> [Row]) rethrows -> [Row] {
        let timer = StatementTimer.begin()
        let rows = try statement()
        timer?.end(text, rowsLookedAt: rows.count)
        return rows
    }
}

func export(_ messages: DAO<MessageTranslator>, _ store: (Message) async throws -> Void) async throws {
    var last = 0
    while true {
        do {
            let rest = Query<MessageModel>(where: Condition { [last] in $0.id > last })
            for try await message in messages.stream(rest, endsAtPinnedLimit: true) {
                try await store(message)
                last = message.id
            }
            return
        } catch let error as StorageError where error.kind == .snapshotTooOld {
            // The rest comes from a new snapshot.
        }
    }
}
