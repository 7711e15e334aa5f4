import Testing

@testable import DAOCore

/// What instruments of one call are told.
@Suite struct CallTraceTests {
    @Test func valuesAreForTheInstrumentThatAsksForThem() {
        let told = Lock<[[String]]>([])
        let instruments = [true, false].map { includesValues in
            Instrument(includesValues: includesValues) { call in
                told.withLock { $0.append(call.statements.map { "\($0.text) × \($0.runs)" }) }
            }
        }
        CallTrace.run(.read, "article", CallListeners(instruments: instruments), rows: { _ in nil }) {
            for value in [5, 5, 6] {
                let timer = StatementTimer.begin()
                #expect(timer?.includesValues == true)
                timer?.end("SELECT ?", withValues: "SELECT \(value)")
            }
        }
        #expect(told.withLock { $0 } == [["SELECT 5 × 2", "SELECT 6 × 1"], ["SELECT ? × 3"]])
    }
}
