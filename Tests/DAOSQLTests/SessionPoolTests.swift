import DAOCore
import Testing

@testable import DAOSQL

/// The places in a pool of sessions.
@Suite struct SessionPoolTests {
    @Test(arguments: [1, 2, 5]) func aSessionThatCannotBeOpenedTakesNoPlace(_ maximum: Int) {
        let traits = SQLEngineTraits(
            name: "none", path: "/nowhere", isPersistent: true, isMultiProcess: false, maximumReaders: maximum,
            busyTimeout: .milliseconds(20))
        let pool = SessionPool(traits, maximum: maximum, capacity: 1, open: { throw StorageError(.io, "no file can be opened") })
        for attempt in 0..<3 * maximum {
            let error = #expect(throws: StorageError.self) { _ = try pool.take() }
            #expect(error?.kind == .io, "attempt \(attempt) of \(maximum) places: \(String(describing: error))")
        }
        // Nobody has a place, so the end of all reads needs no wait.
        #expect(throws: Never.self) { try pool.withoutSessions {} }
    }
}
