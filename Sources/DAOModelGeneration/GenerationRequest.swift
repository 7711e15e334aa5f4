/// What the command plugin asks of the tool.
package struct GenerationRequest: Codable, Sendable {
    /// The directory of the package.
    package var package: String
    /// The name of the target.
    package var target: String
    package var module: String
    /// The directory of the target's sources.
    package var directory: String
    /// The paths of the target's Swift files.
    package var sources: [String]
    /// The directory with the modules that the target imports.
    package var modules: String
    /// The module maps of C modules.
    package var moduleMaps: [String]
    /// The compilation conditions of the target.
    package var conditions: [String]
    /// Further arguments of the compiler.
    package var arguments: [String]
    package var languageMode: String
    /// The path of the Swift compiler.
    package var compiler: String
    /// A directory for temporary files.
    package var work: String
    /// The only value or entity whose file is written; nil for all.
    package var type: String?
    /// Whether files are compared and not written.
    package var checks: Bool
    /// The path of what `dao inspect --json` writes; nil to read the target's own values.
    package var catalog: String?
}

/// Why nothing can be generated.
package struct GenerationFailure: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
