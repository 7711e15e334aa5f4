import Foundation
import PackagePlugin

/// `swift package dao COMMAND …`: builds the command line and hands it the words.
@main struct DAOPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        // What a plugin reads from the standard input stream are messages of SwiftPM.
        guard !(arguments.first == "import" && arguments.contains("-")) else {
            Diagnostics.error(
                "a plugin cannot read the standard input stream; give 'dao import' a file, or run 'swift run dao import'")
            return
        }
        let build = try packageManager.build(.product("dao"), parameters: .init())
        guard build.succeeded, let program = build.builtArtifacts.first(where: { $0.kind == .executable }) else {
            Diagnostics.error("the command line cannot be built\n\(build.logText)")
            return
        }
        let process = Process()
        process.executableURL = program.url
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        // What went wrong is written already.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }
}
