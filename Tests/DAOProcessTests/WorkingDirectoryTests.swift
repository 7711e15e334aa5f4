import DAOChildProcesses
import DAOCore
import DAOTestSupport
import Foundation
import Testing

/// Paths are made absolute when a database is opened or copied; the working directory can be another one later.
@Suite(.serialized, .timeLimit(.minutes(30))) struct WorkingDirectoryTests {
    @Test(arguments: Place.Kind.allCases) func aDatabaseStaysWhereItWasOpened(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let url = place.url()
            let directory = URL(fileURLWithPath: try DatabaseConfiguration(url: url).path).deletingLastPathComponent()
                .resolvingSymlinksInPath().path
            let child = try Child("wander", String(url.prefix { $0 != ":" }), directory)
            try child.expect("5 4")
            try child.expect("notFound /wander.db")
            try child.expect("notFound")
        }
    }
}
