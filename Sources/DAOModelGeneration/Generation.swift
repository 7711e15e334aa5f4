import DAOCore
import Foundation

/// Writes the models of a target, or compares them with what is there.
package struct Generation {
    private let request: GenerationRequest
    private let compiler: SwiftCompiler
    /// The files of the target that nobody has generated, or that somebody has changed.
    private var sources: [String] = []
    /// The generated files that are there, unchanged.
    private var generated: [String: (text: String, origin: String)] = [:]
    private var edited: [String] = []
    private var findings: [Finding] = []
    private var lines: [String] = []

    /// Where the files are.
    private var folder: String { request.directory + "/Models" }

    private init(_ request: GenerationRequest) throws {
        self.request = request
        compiler = SwiftCompiler(request: request)
        for path in request.sources.sorted() {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { continue }
            switch GeneratedFile.author(of: text) {
            // The entities of a database and the values of the target are generated apart.
            case .generator(let origin):
                let isOfEntity = origin.hasPrefix(CatalogReader.origin)
                if isOfEntity == (request.catalog != nil) { generated[path] = (text, origin) } else { sources.append(path) }
            case .edited:
                edited.append(path)
                sources.append(path)
            case .person: sources.append(path)
            }
        }
    }

    /// Does what the request asks for.
    ///
    /// - Returns: The lines to show, and whether everything is as it should be.
    /// - Throws: ``GenerationFailure`` when nothing can be done.
    package static func run(_ request: GenerationRequest) throws -> (lines: [String], isClean: Bool) {
        var generation = try Generation(request)
        return try generation.run()
    }

    private mutating func run() throws -> (lines: [String], isClean: Bool) {
        var models = try declarations()
        if let type = request.type {
            let isKnown = models.contains { [$0.plain ?? $0.name, $0.name, $0.entity].contains(type) }
            if !isKnown, findings.isEmpty {
                throw GenerationFailure(
                    "'\(request.target)' has no '\(type)' to generate a model for; it has: "
                        + "\(models.map { $0.plain ?? $0.entity }.joined(separator: ", "))")
            }
        }
        try dropUncompilable(&models)
        var isStale = false
        for model in models where isAsked(model) {
            let path = "\(folder)/\(model.name).swift"
            let new = GeneratedFile(code: SourceWriter.text(of: model), origin: model.origin).text
            // An edited file has taken part as source, and a model that it declares is not generated.
            if FileManager.default.fileExists(atPath: path), generated[path] == nil {
                findings.append(
                    Finding(place: Place(path: path, line: 1), message: "the file is not generated; move it, or delete it"))
                continue
            }
            if let old = generated[path], GeneratedFile.isSame(old.text, new) { continue }
            isStale = true
            let verb = generated[path] == nil ? "missing" : "stale"
            if request.checks {
                lines.append("\(relative(path)): \(verb)")
            } else {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try Data(new.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
                lines.append("\(relative(path)): \(generated[path] == nil ? "written" : "written again")")
            }
        }
        isStale = try removeOrphans(besides: models) || isStale
        for path in edited {
            findings.append(
                Finding(
                    place: Place(path: path, line: 1),
                    message:
                        "the file was edited after it was generated, and is left as it is; delete its first two lines to keep it as "
                        + "your own, or delete the file to generate it again"))
        }
        return outcome(models.count, isStale)
    }

    private mutating func outcome(_ count: Int, _ isStale: Bool) -> (lines: [String], isClean: Bool) {
        let problems = Set(findings).sorted { $0.place == $1.place ? $0.message < $1.message : $0.place < $1.place }
        lines += problems.map { "\(relative($0.place.path)):\($0.place.line): error: \($0.message)" }
        if request.checks, isStale { lines.append("run 'swift package generate-models' and commit what it writes") }
        if lines.isEmpty { lines.append("\(count) \(count == 1 ? "model" : "models") of \(request.target), all up to date") }
        return (lines, problems.isEmpty && !(request.checks && isStale))
    }

    private func isAsked(_ model: ModelDeclaration) -> Bool {
        request.type.map { [model.plain ?? model.name, model.name, model.entity].contains($0) } ?? true
    }

    // MARK: What to declare

    private mutating func declarations() throws -> [ModelDeclaration] {
        if let catalog = request.catalog {
            struct Inspection: Decodable {
                struct Entity: Decodable { var catalog: EntityDescription }
                var entities: [Entity]
            }
            let inspection = try JSONDecoder().decode(Inspection.self, from: Data(contentsOf: URL(fileURLWithPath: catalog)))
            let reader = CatalogReader(inspection.entities.map(\.catalog), folder: folder)
            // A file that somebody has made their own declares its entity.
            findings += reader.findings.filter { !sources.contains($0.place.path) }
            return reader.models.filter { !sources.contains($0.place.path) }
        }
        var graph = try compiler.symbolGraph(of: sources)
        let stubs = Self.stubs(for: graph)
        if !stubs.isEmpty {
            // Values with a Reference to a model that is still to be written.
            let path = request.work + "/Stubs.swift"
            try Data(("import DAOCore\n" + stubs.joined()).utf8).write(to: URL(fileURLWithPath: path))
            graph = try compiler.symbolGraph(of: sources + [path])
            graph.symbols.removeAll { $0.place?.path == path }
        }
        let reader = PlainReader(graph) { try? String(contentsOfFile: $0, encoding: .utf8) }
        findings += reader.findings
        return reader.models
    }

    /// Models that stand for those which properties name and nobody has written.
    private static func stubs(for graph: SymbolGraph) -> [String] {
        let types = TypeTable(graph)
        let names = types.conforming(to: .plain).map { ($0, PlainReader.modelName($0)) }.filter {
            types.symbol(path: $0.1) == nil
        }
        let text = graph.symbols.filter { $0.kind.identifier == "swift.property" }.map(\.text).joined(separator: "\n")
        return names.filter { text.contains($0.1) }.map { plain, name in
            let access = types.access(plain)
            return "\(access)struct \(name): Model { \(access)static var schema: Schema<Self> { fatalError() } }\n"
        }
    }

    // MARK: Checking

    /// Removes the models that would not compile, and reports each.
    private mutating func dropUncompilable(_ models: inout [ModelDeclaration]) throws {
        let scratch = request.work + "/check"
        while !models.isEmpty {
            try? FileManager.default.removeItem(atPath: scratch)
            try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
            var texts: [String: [Substring]] = [:]
            for model in models {
                let code = GeneratedFile(code: SourceWriter.text(of: model), origin: model.origin).text
                let path = "\(scratch)/\(model.name).swift"
                try Data(code.utf8).write(to: URL(fileURLWithPath: path))
                texts[path] = code.split(separator: "\n", omittingEmptySubsequences: false)
            }
            let faults = try compiler.errors(in: texts.keys.sorted(), with: sources)
            if faults.isEmpty { return }
            for model in models {
                let path = "\(scratch)/\(model.name).swift"
                guard let fault = faults.first(where: { $0.place.path == path }) else { continue }
                let lines = texts[path] ?? []
                let line = lines.indices.contains(fault.place.line - 1) ? lines[fault.place.line - 1] : ""
                findings.append(Self.finding(fault.message, in: line.trimmingCharacters(in: .whitespaces), of: model))
            }
            models.removeAll { model in faults.contains { $0.place.path == "\(scratch)/\(model.name).swift" } }
        }
    }

    /// What the compiler says of a generated line, at the property that the line is made of.
    private static func finding(_ message: String, in line: String, of model: ModelDeclaration) -> Finding {
        if let match = message.firstMatch(of: /requires that '([^']+)' conform to '(?:FieldValue|Storable|PrimaryKeyValue)'/),
            let field = model.fields.first(where: { $0.type.trimmingCharacters(in: ["?", "[", "]"]) == match.output.1 })
        {
            let type = match.output.1
            return Finding(
                place: field.place,
                message: "'\(field.property)' is '\(type)' of another module, which is not a FieldValue; write 'extension "
                    + "\(type): @retroactive FieldValue {}' if it is Codable or has a raw value, or put it into a Codable struct "
                    + "that is a FieldValue")
        }
        let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        let field = model.fields.first { words.contains(Substring($0.property)) }
        return Finding(
            place: field?.place ?? model.place,
            message: "the model of '\(model.plain ?? model.entity)' would not compile: \(message), in '\(line)'; mend it, or "
                + "write this model, its schema and its translator by hand")
    }

    // MARK: Orphans

    /// Removes the generated files of values that are gone.
    ///
    /// - Returns: Whether there are any.
    private mutating func removeOrphans(besides models: [ModelDeclaration]) throws -> Bool {
        guard request.catalog == nil, request.type == nil else { return false }
        let kept = Set(models.map { "\(folder)/\($0.name).swift" })
        // A value that has a finding is there.
        let hasFindings = !findings.isEmpty
        var found = false
        for (path, file) in generated.sorted(by: { $0.key < $1.key }) where !kept.contains(path) && !hasFindings {
            found = true
            if request.checks {
                lines.append("\(relative(path)): nothing to generate it from, as '\(file.origin)' is gone or has a model by hand")
            } else {
                try FileManager.default.removeItem(atPath: path)
                lines.append(
                    "\(relative(path)): removed, as '\(file.origin)' is gone or has a model by hand; to rename a type and keep its rows, "
                        + "say '- Stored: named(\"…\")' with the earlier name of the entity above it")
            }
        }
        return found
    }

    private func relative(_ path: String) -> String {
        path.hasPrefix(request.package + "/") ? String(path.dropFirst(request.package.count + 1)) : path
    }
}
