import DAOChildProcesses
import DAOSystemSQLite
import Testing

/// Relationships whose tables another tool has created. Declaring such a relationship changes only the
/// catalog.
@Suite struct AdoptionTests {
    @Test func adoptedRelationshipIsDetectedByOtherProcesses() async throws {
        try await onThread {
            let place = try Place(.sqlite)
            func peer() throws -> Child {
                let peer = try Child("peer", place.url())
                try peer.expect("open")
                return peer
            }
            let first = try peer()
            #expect(try first.ask("topic a 1 1 2") == "done")
            first.kill()
            // The tables of the relationship exist now, but the catalog does not declare it.
            var file: OpaquePointer?
            #expect(sqlite3_open(place.file.path, &file) == SQLITE_OK)
            #expect(sqlite3_exec(file, "DELETE FROM dao_catalog WHERE entity = 'topic'", nil, nil, nil) == SQLITE_OK)
            sqlite3_close(file)

            let erasing = try peer()
            #expect(try erasing.ask("erase 9") == "0")
            let declaring = try peer()
            #expect(try declaring.ask("topic a 1 1 2") == "done")
            #expect(try erasing.ask("erase 1") == "1")
            #expect(try declaring.ask("topics") == "a of 1: [2] in 1 and 1 links")
        }
    }
}
