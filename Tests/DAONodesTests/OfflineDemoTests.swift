import DAOTestSupport
import Foundation
import Testing

/// Runs the example program as a user does.
@Suite(.timeLimit(.minutes(30))) struct OfflineDemoTests {
    private func run(_ arguments: [String], path: String? = nil) async throws -> Process.Ended {
        let process = Process()
        process.executableURL = Process.built("dao-offline-demo")
        process.arguments = arguments
        if let path { process.environment = ProcessInfo.processInfo.environment.merging(["PATH": path]) { $1 } }
        return try await process.runToEnd()
    }

    @Test(arguments: ["memory:", "sqlite:{directory}/dialogs.db", "lmdb:{directory}/dialogs.mdb"])
    func outputIsTheSameWithAndWithoutTheServer(_ url: String) async throws {
        let place = Place()
        let result = try await run([url.replacingOccurrences(of: "{directory}", with: place.directory.path)])
        withExtendedLifetime(place) {}
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(
            result.output.components(separatedBy: "Ann: Who brings the rope?").count == 3, "online and offline:\n\(result.output)"
        )
        #expect(result.output.contains("GET dialogs/ alone now fails: the server cannot be reached"))
    }

    /// Contract L12: `?log=` prints what a program does, without any instrument in its code.
    @Test func callsAreLoggedOnRequest() async throws {
        let place = Place()
        let result = try await run(["sqlite:\(place.directory.path)/dialogs.db?log=all"])
        withExtendedLifetime(place) {}
        #expect(result.status == 0)
        #expect(result.errors.contains("dao: open dialog, ") && result.errors.contains("\n    SELECT "), "\(result.errors)")
        #expect(!result.output.contains("dao: "))
    }

    @Test func missingOrInvalidArgumentsAreReported() async throws {
        let help = try await run(["--help"])
        #expect(help.status == 0 && help.output.contains("memory:"))
        let noPython = try await run([], path: "/nowhere")
        #expect(noPython.status == 1 && noPython.errors.contains("there is no python3 on the PATH"))
        let option = try await run(["--fast"])
        #expect(option.status == 2 && option.errors.contains("unknown option '--fast'"))
        let driver = try await run(["realm:x"])
        #expect(driver.status == 1 && driver.errors.contains("there is no driver for 'realm'"))
    }
}
