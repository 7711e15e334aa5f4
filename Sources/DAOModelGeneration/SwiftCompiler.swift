import Foundation

/// The Swift compiler, as far as it reads declarations and checks types.
struct SwiftCompiler {
    /// What the tool is asked for.
    let request: GenerationRequest

    /// An error that the compiler reports.
    struct Fault: Hashable {
        var place: Place
        var message: String
    }

    /// The symbols of some files as one module, private ones included. Errors of the files do not matter: what cannot be
    /// understood is missing.
    ///
    /// - Throws: ``GenerationFailure`` when the compiler cannot be run.
    func symbolGraph(of files: [String]) throws -> SymbolGraph {
        let folder = request.work + "/graph"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let output = try run(
            ["-emit-module", "-o", "\(folder)/\(request.module).swiftmodule"] + arguments + [
                "-emit-symbol-graph", "-emit-symbol-graph-dir", folder, "-symbol-graph-minimum-access-level", "private",
                "-symbol-graph-skip-synthesized-members", "-experimental-allow-module-with-compiler-errors",
                "-experimental-skip-all-function-bodies",
            ] + files)
        let graphs = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".symbols.json") }.sorted()
        guard !graphs.isEmpty else {
            throw GenerationFailure("the compiler gives no symbol graph of '\(request.module)':\n\(output)")
        }
        return SymbolGraph(
            joining: try graphs.map {
                try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")))
            })
    }

    /// The errors in some files of the module.
    ///
    /// - Parameters:
    ///   - checked: The files that are checked.
    ///   - others: The other files of the module.
    func errors(in checked: [String], with others: [String]) throws -> [Fault] {
        let output = try run(
            ["-typecheck", "-diagnostic-style", "llvm"] + arguments + checked.flatMap { ["-primary-file", $0] } + others)
        return output.split(separator: "\n").compactMap { line in
            guard let match = line.wholeMatch(of: /(.+?):(\d+):\d+: error: (.+)/), checked.contains(String(match.output.1)) else {
                return nil
            }
            return Fault(
                place: Place(path: String(match.output.1), line: Int(match.output.2) ?? 0), message: String(match.output.3))
        }
    }

    private var arguments: [String] {
        // A module without main.swift has no code outside of declarations.
        let isLibrary = !request.sources.contains { $0.hasSuffix("/main.swift") }
        return (isLibrary ? ["-parse-as-library"] : []) + [
            "-module-name", request.module, "-swift-version", request.languageMode, "-I", request.modules,
        ]
            + request.arguments + request.conditions.map { "-D\($0)" }
            + request.moduleMaps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }

    /// Runs the compiler's frontend.
    ///
    /// - Returns: What it writes to the error stream.
    private func run(_ arguments: [String]) throws -> String {
        #if os(macOS) || os(Linux)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: request.compiler)
            process.arguments = ["-frontend"] + arguments
            process.currentDirectoryURL = URL(fileURLWithPath: request.package)
            let errors = Pipe()
            process.standardError = errors
            process.standardOutput = FileHandle.nullDevice
            do {
                try process.run()
            } catch {
                throw GenerationFailure("'\(request.compiler)' cannot be run: \(error.localizedDescription)")
            }
            // The two runs take seconds; a compiler that hangs is ended.
            let deadline = DispatchWorkItem { process.terminate() }
            DispatchQueue.global().asyncAfter(deadline: .now() + 600, execute: deadline)
            defer { deadline.cancel() }
            let text = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: text, as: UTF8.self)
        #else
            throw GenerationFailure("models are generated on macOS and Linux, where programs can be run")
        #endif
    }
}
