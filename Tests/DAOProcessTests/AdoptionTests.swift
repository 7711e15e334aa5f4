import DAOChildProcesses
import DAOSystemSQLite
import DAOTestSupport
import Testing

/// Relationships whose tables another tool has created. Declaring such a relationship changes only the
/// catalog.
@Suite struct AdoptionTests {
    @Test func adoptedRelationshipIsDetectedByOtherProcesses() async throws {
        try await onThread {
            let place = Place(.sqlite)
            func other() throws -> Child {
                let process = try Child("conformance", place.url())
                try process.expect("open")
                return process
            }
            let first = try other()
            #expect(try first.ask("topic a 1 1 2") == "done")
            first.kill()
            // The tables of the relationship exist now, but the catalog does not declare it.
            var file: OpaquePointer?
            #expect(sqlite3_open(place.file.path, &file) == SQLITE_OK)
            #expect(sqlite3_exec(file, "DELETE FROM dao_catalog WHERE entity = 'topic'", nil, nil, nil) == SQLITE_OK)
            sqlite3_close(file)

            let erasing = try other()
            #expect(try erasing.ask("erase 9") == "0")
            let declaring = try other()
            #expect(try declaring.ask("topic a 1 1 2") == "done")
            #expect(try erasing.ask("erase 1") == "1")
            #expect(try declaring.ask("topics") == "a of 1: [2] in 1 and 1 links")
        }
    }
}
