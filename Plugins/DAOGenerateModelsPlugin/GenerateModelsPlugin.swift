import Foundation
import PackagePlugin

/// `swift package generate-models [--target TARGET] [--type TYPE] [--check] [--from URL [--zone ZONE]]`: builds what the target imports and
/// the tool, and hands the tool what it knows of the target.
@main struct GenerateModelsPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var words = ArgumentExtractor(arguments)
        let names = words.extractOption(named: "target")
        let type = words.extractOption(named: "type").first
        let url = words.extractOption(named: "from").first
        let zone = words.extractOption(named: "zone").first
        let checks = words.extractFlag(named: "check") > 0
        if words.extractFlag(named: "help") > 0 {
            print(Self.help)
            return
        }
        guard words.remainingArguments.isEmpty else {
            Diagnostics.error("'\(words.remainingArguments.joined(separator: " "))' is not expected\n\n\(Self.help)")
            return
        }
        guard let targets = targets(of: context.package, named: names) else { return }
        guard url == nil || targets.count == 1 else {
            Diagnostics.error(
                "say with --target TARGET where the models of \(url ?? "") go: \(targets.map(\.name).joined(separator: ", "))")
            return
        }
        guard let tool = build(.product("dao-generate-models")) else { return }
        for target in targets {
            // What the target imports is built first. Whether the target itself compiles does not matter.
            let build = try packageManager.build(.target(target.name), parameters: .init())
            var request = try request(for: target, context: context, tool: tool)
            guard FileManager.default.fileExists(atPath: request.modules + "/DAOCore.swiftmodule") else {
                Diagnostics.error("what '\(target.name)' imports cannot be built\n\(build.logText)")
                return
            }
            (request.type, request.checks) = (type, checks)
            if let url {
                guard let catalog = try catalog(of: url, zone, in: request, checks: checks) else { return }
                request.catalog = catalog
            }
            let path = request.work + "/request.json"
            try JSONEncoder().encode(request).write(to: URL(fileURLWithPath: path))
            guard try run(tool, [path]) == 0 else {
                Diagnostics.error("not all models of '\(target.name)' are \(checks ? "up to date" : "generated")")
                continue
            }
        }
    }

    private static let help = """
        usage: swift package generate-models [--target TARGET] [--type TYPE] [--check] [--from URL [--zone ZONE]]

        Writes a model, a schema and a translator for each Plain of the targets that use DAOCore, into their folders 'Models'.
        Edited files are never overwritten.

          --target TARGET  only of this target
          --type TYPE      only for this Plain
          --check          writes nothing, and fails when a file is missing or stale
          --from URL       for the entities of a database instead, such as sqlite:app.db, or for the tables of an SQLite file that
                           another program has made; beside the models, FILE.mapping.json then says what the tables become
          --zone ZONE      the time zone of dates that such a file has without one
        """

    /// The targets that are asked for: Swift targets that use DAOCore; nil, with an error, when there are none.
    private func targets(of package: Package, named names: [String]) -> [SwiftSourceModuleTarget]? {
        let all = package.targets.compactMap { $0 as? SwiftSourceModuleTarget }.filter { target in
            names.contains(target.name)
                || [.generic, .executable].contains(target.kind)
                    && target.recursiveTargetDependencies.contains { $0.name == "DAOCore" }
        }
        let wanted = names.isEmpty ? all : all.filter { names.contains($0.name) }
        if let missing = names.first(where: { name in !wanted.contains { $0.name == name } }) {
            Diagnostics.error(
                "there is no target '\(missing)'; those that use DAOCore: \(all.map(\.name).joined(separator: ", "))")
            return nil
        }
        guard !wanted.isEmpty else {
            Diagnostics.error(
                "no target uses DAOCore; add .product(name: \"DAOCore\", package: \"swift-dao\") to the dependencies of a target")
            return nil
        }
        return wanted
    }

    /// Builds a product; nil, with an error, when it does not build.
    private func build(_ subset: PackageManager.BuildSubset) -> URL? {
        do {
            let build = try packageManager.build(subset, parameters: .init())
            if build.succeeded, let tool = build.builtArtifacts.first(where: { $0.kind == .executable }) { return tool.url }
            Diagnostics.error("the tool cannot be built\n\(build.logText)")
        } catch {
            Diagnostics.error("the tool cannot be built: \(error)")
        }
        return nil
    }

    /// What `dao inspect` says of a database, in a file. The mapping of another program's tables is beside the models: it is read when it
    /// is there, and written otherwise.
    private func catalog(of url: String, _ zone: String?, in request: Request, checks: Bool) throws -> String? {
        guard let program = build(.product("dao")) else { return nil }
        let path = request.work + "/catalog.json"
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        let name =
            (url.split(separator: "?")[0].split(whereSeparator: { $0 == "/" || $0 == ":" }).last.map(String.init) ?? "database")
        let models = request.directory + "/Models"
        let mapping = "\(models)/\((name as NSString).deletingPathExtension).mapping.json"
        let isThere = FileManager.default.fileExists(atPath: mapping)
        let used = checks && !isThere ? request.work + "/new.mapping.json" : mapping
        if used == mapping {
            try FileManager.default.createDirectory(atPath: models, withIntermediateDirectories: true)
        } else if FileManager.default.fileExists(atPath: used) {
            try FileManager.default.removeItem(atPath: used)
        }
        let words = ["inspect", url, "--json", "--mapping", used] + (zone.map { ["--zone", $0] } ?? [])
        guard try run(program, words, output: file) == 0 else {
            Diagnostics.error("'\(program.lastPathComponent)' cannot read the catalog")
            return nil
        }
        if used != mapping, FileManager.default.fileExists(atPath: used) {
            Diagnostics.error("\(mapping): missing")
            return nil
        }
        return path
    }

    private func run(_ program: URL, _ arguments: [String], output: FileHandle? = nil) throws -> Int32 {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        if let output { process.standardOutput = output }
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    #if os(macOS)
        /// What `xcrun` says of the SDK for macOS.
        private func sdk(_ question: String, in work: URL) throws -> String {
            let output = work.appendingPathComponent("sdk.txt")
            try Data().write(to: output)
            let file = try FileHandle(forWritingTo: output)
            defer { try? file.close() }
            _ = try run(URL(fileURLWithPath: "/usr/bin/xcrun"), ["--sdk", "macosx", question], output: file)
            return try String(contentsOf: output, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    #endif

    private func request(for target: SwiftSourceModuleTarget, context: PluginContext, tool: URL) throws -> Request {
        let products = tool.deletingLastPathComponent()
        let work = context.pluginWorkDirectoryURL.appendingPathComponent(target.name)
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        var maps: [String] = []
        var flags = ["-package-name", String(context.package.id.map { $0.isLetter || $0.isNumber ? $0 : "_" })]
        // A plugin may write nowhere else, where it is in a sandbox.
        flags += ["-module-cache-path", work.appendingPathComponent("module-cache").path]
        #if os(macOS)
            // The driver finds the system by itself, the frontend does not. The system of the SDK can use modules for any older one,
            // whatever platform the package names.
            let version = try sdk("--show-sdk-version", in: work)
            #if arch(arm64)
                flags += ["-target", "arm64-apple-macosx\(version)"]
            #else
                flags += ["-target", "x86_64-apple-macosx\(version)"]
            #endif
            flags += ["-sdk", try sdk("--show-sdk-path", in: work)]
        #endif
        for dependency in target.recursiveTargetDependencies {
            if let library = dependency as? SystemLibraryTarget {
                maps.append(library.directoryURL.appendingPathComponent("module.modulemap").path)
                flags += library.compilerFlags.flatMap { ["-Xcc", $0] }
            } else if let clang = dependency as? ClangSourceModuleTarget {
                let own = clang.publicHeadersDirectoryURL.map { $0.appendingPathComponent("module.modulemap").path }
                let made = products.appendingPathComponent("\(clang.name).build/module.modulemap").path
                maps += [own, made].compactMap { $0 }.filter { FileManager.default.fileExists(atPath: $0) }.prefix(1)
            }
        }
        return Request(
            package: context.package.directoryURL.path, target: target.name, module: target.moduleName,
            directory: target.directoryURL.path,
            sources: target.sourceFiles.filter { $0.type == .source && $0.url.pathExtension == "swift" }.map(\.url.path),
            modules: products.appendingPathComponent("Modules").path, moduleMaps: maps, conditions: target.compilationConditions,
            arguments: flags, languageMode: "6", compiler: try context.tool(named: "swiftc").url.path, work: work.path)
    }
}

/// What the tool has to know; its `GenerationRequest`.
private struct Request: Codable {
    var package: String
    var target: String
    var module: String
    var directory: String
    var sources: [String]
    var modules: String
    var moduleMaps: [String]
    var conditions: [String]
    var arguments: [String]
    var languageMode: String
    var compiler: String
    var work: String
    var type: String?
    var checks = false
    var catalog: String?
}
