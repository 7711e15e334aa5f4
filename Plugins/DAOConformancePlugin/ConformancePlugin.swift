import Foundation
import PackagePlugin

/// `swift package conformance [--target TARGET] [--url URL …] [--chapter K …] [--json PATH] [--html PATH]`: builds the runner, or an
/// executable target of the package that has drivers of its own, and hands it the arguments.
@main struct ConformancePlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var words = ArgumentExtractor(arguments)
        let targets = words.extractOption(named: "target")
        guard targets.count < 2 else {
            Diagnostics.error("--target is given twice; run the suite of one target after the other")
            return
        }
        let programs = context.package.targets.filter { ($0 as? SwiftSourceModuleTarget)?.kind == .executable }
        if let name = targets.first, !programs.contains(where: { $0.name == name }) {
            Diagnostics.error(
                "there is no executable target '\(name)'; there are: \(programs.map(\.name).joined(separator: ", ")). Its main file calls "
                    + "'await ConformanceProgram.run(.myStorage)'")
            return
        }
        // A tool that a plugin depends on is built a second time, with all that it uses, in every build of the
        // package. The command builds the runner itself.
        let build = try packageManager.build(.product(targets.first ?? "dao-conformance"), parameters: .init())
        guard build.succeeded, let runner = build.builtArtifacts.first(where: { $0.kind == .executable }) else {
            Diagnostics.error("the runner cannot be built\n\(build.logText)")
            return
        }
        let process = Process()
        process.executableURL = runner.url
        process.arguments = words.remainingArguments
        // A signal that ends the command ends the runner, which prints the report so far.
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        try process.run()
        let started = process.processIdentifier
        for (number, source) in zip([SIGINT, SIGTERM], sources) {
            source.setEventHandler { kill(started, number) }
            source.resume()
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            Diagnostics.error("the suite ended with status \(process.terminationStatus)")
            return
        }
    }
}
