import Foundation
import PackagePlugin

/// `swift package conformance [--url URL …] [--chapter K …] [--json PATH]`: builds the runner and hands it
/// the arguments.
@main struct ConformancePlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        // A tool that a plugin depends on is built a second time, with all that it uses, in every build of the
        // package. The command builds the runner itself.
        let build = try packageManager.build(.product("dao-conformance"), parameters: .init())
        guard build.succeeded, let runner = build.builtArtifacts.first(where: { $0.kind == .executable }) else {
            Diagnostics.error("the runner cannot be built\n\(build.logText)")
            return
        }
        let process = Process()
        process.executableURL = runner.url
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            Diagnostics.error("the suite ended with status \(process.terminationStatus)")
            return
        }
    }
}
