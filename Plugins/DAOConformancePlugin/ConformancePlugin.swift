import Foundation
import PackagePlugin

/// `swift package conformance [--url URL …] [--chapter K …] [--json PATH]`: builds the runner and hands it
/// the arguments.
@main struct ConformancePlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let runner = try context.tool(named: "dao-conformance")
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
