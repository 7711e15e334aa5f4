import DAOTestSupport
import Foundation
import Testing

@testable import DAOModelGeneration

/// A target in a temporary directory, with the modules of this package beside it.
struct Target {
    private let place = Place()

    private var directory: String { place.path("App") }

    /// Writes a file of the target.
    func write(_ text: String, to name: String) throws {
        let url = URL(fileURLWithPath: "\(directory)/\(name)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// The text of a file; nil when it is missing.
    func read(_ name: String) -> String? { try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8) }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(directory)/\(name)") }

    /// The generated code of a file, without the two lines at its beginning.
    func code(_ name: String) -> String? {
        read("Models/\(name)")?.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(3).joined(separator: "\n")
    }

    var models: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/Models")) ?? []).sorted()
    }

    /// Generates, or checks.
    func generate(type: String? = nil, checks: Bool = false, catalog: String? = nil) throws -> (lines: [String], isClean: Bool) {
        let work = place.path("work")
        try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
        let sources = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        if let catalog { try Data(catalog.utf8).write(to: URL(fileURLWithPath: work + "/catalog.json")) }
        return try Generation.run(
            GenerationRequest(
                package: directory, target: "App", module: "App", directory: directory,
                sources: sources.filter { $0.hasSuffix(".swift") }.map { "\(directory)/\($0)" },
                modules: Process.built("Modules").path, moduleMaps: [], conditions: [], arguments: ["-package-name", "app"],
                languageMode: "6", compiler: try Self.compiler(), work: work, type: type, checks: checks,
                catalog: catalog.map { _ in work + "/catalog.json" }))
    }

    private static func compiler() throws -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return try #require(folders.map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) })
    }
}
