import DAOCore
import DAOMemory
import Testing

@testable import DAOExamples

@Suite struct EmbeddedTests {
    /// The conditions of Docs/Embedded.md find the documented rows.
    @Test func arraysBehaveAsDocumented() throws {
        let result = try arrays(DatabaseDrivers(.memory).open("memory:"))
        #expect(result.found == [[1], [1], [1], [1], [1, 2, 3]])
        #expect(result.untagged == 1)
        #expect(try members(DatabaseDrivers(.memory).open("memory:")) == [[1], [2]])
    }
}
