import Foundation
import PackagePlugin

/// `swift package new-storage NAME --kind key-value|sql|database`: copies the skeleton of a storage into a new target, and writes
/// its conformance test and its README.
@main struct NewStoragePlugin: CommandPlugin {
    /// A kind of storage: its skeleton in DAOStorageSkeletons, and the product that it builds on.
    private static let kinds: [String: (skeleton: String, product: String, advice: String)] = [
        "key-value": (
            "KeyValue", "DAOKeyValue",
            "an ordered key-value store. Write the transaction and its cursor; records, indexes and queries come from `DAOKeyValue`."
        ),
        "sql": (
            "SQL", "DAOSQL",
            "an SQL engine. Write the connection, the statement, the reader and the batch, and compare the dialect with the engine; "
                + "tables, queries and migrations come from `DAOSQL`."
        ),
        "database": (
            "Database", "DAOCore",
            "whole rows. Write the transaction and the five methods of the storage; everything else has defaults, which you can "
                + "replace."
        ),
    ]

    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var words = ArgumentExtractor(arguments)
        let kinds = words.extractOption(named: "kind")
        let names = words.remainingArguments
        guard kinds.count == 1, let kind = Self.kinds[kinds[0]], names.count == 1, let name = names.first else {
            Diagnostics.error("usage: swift package new-storage NAME --kind key-value|sql|database")
            return
        }
        guard name.wholeMatch(of: /[A-Z][A-Za-z0-9]*/) != nil else {
            Diagnostics.error("'\(name)' is not the name of a type; begin with a capital, and use letters and digits")
            return
        }
        let sources = context.package.directoryURL.appendingPathComponent("Sources/\(name)")
        let tests = context.package.directoryURL.appendingPathComponent("Tests/\(name)Tests")
        for folder in [sources, tests] where FileManager.default.fileExists(atPath: folder.path) {
            Diagnostics.error("'\(folder.path)' is there already; choose another name")
            return
        }
        guard let library = library(in: context.package) else {
            Diagnostics.error("the package does not depend on swift-dao")
            return
        }
        let templates = library.directoryURL.appendingPathComponent("Sources/DAOStorageSkeletons/\(kind.skeleton)")
        let marker = "\(kind.skeleton)Skeleton"
        for file in try FileManager.default.contentsOfDirectory(at: templates, includingPropertiesForKeys: nil) {
            let text = try String(contentsOf: file, encoding: .utf8).replacing(marker, with: name)
                .replacing(marker.lowercased(), with: name.lowercased())
            try write(text, to: sources.appendingPathComponent(file.lastPathComponent.replacing(marker, with: name)))
        }
        try write(readme(name, kind.advice), to: sources.appendingPathComponent("README.md"))
        try write(test(name), to: tests.appendingPathComponent("ConformanceTests.swift"))
        let package = library.id == context.package.id ? nil : self.name(of: library, in: context.package)
        print("Sources/\(name) and Tests/\(name)Tests are written. Add the targets to Package.swift:\n")
        print(manifest(name, kind.product, package))
    }

    /// The package of the library: this package, or one that it depends on.
    private func library(in package: Package) -> Package? {
        if package.targets.contains(where: { $0.name == "DAOCore" }) { return package }
        return package.dependencies.lazy.compactMap { library(in: $0.package) }.first
    }

    /// The name by which the manifest of a package knows the library: one that it gives to the path, or that of folder or address.
    private func name(of library: Package, in package: Package) -> String {
        let file = package.directoryURL.appendingPathComponent("Package.swift")
        let manifest = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        let named = manifest.matches(of: /\.package\(\s*name:\s*"([^"]+)",\s*path:\s*"([^"]+)"/).first {
            URL(fileURLWithPath: String($0.output.2)).lastPathComponent.lowercased() == library.id
        }
        return named.map { String($0.output.1) } ?? library.id
    }

    private func write(_ text: String, to file: URL) throws {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func manifest(_ name: String, _ product: String, _ package: String?) -> String {
        func dependency(_ product: String) -> String {
            package.map { ".product(name: \"\(product)\", package: \"\($0)\")" } ?? "\"\(product)\""
        }
        let products = Set(["DAOCore", product]).sorted().map(dependency).joined(separator: ", ")
        return """
                    .target(name: "\(name)", dependencies: [\(products)], exclude: ["README.md"]),
                    .testTarget(name: "\(name)Tests", dependencies: ["\(name)", \(dependency("DAOConformance"))]),
            """
    }

    private func test(_ name: String) -> String {
        """
        import DAOConformance
        import DAOCore
        import Testing
        import \(name)

        /// The contract of swift-dao, a test for each case.
        @Suite struct ConformanceTests {
            static let target = ConformanceTarget(name: "\(name)") { location in
                try DatabaseDrivers(.\(name.lowercased())).open("\(name.lowercased()):\\(location.name)")
            }

            @Test(arguments: Conformance.cases(for: target))
            func conforms(_ test: ConformanceTest) async throws { try await test.run() }
        }

        """
    }

    private func readme(_ name: String, _ advice: String) -> String {
        """
        # \(name)

        A storage for swift-dao on \(advice)

        `swift test --filter \(name)Tests` runs the contract. A case fails while a method is "still to be implemented": write what the
        first failing cases name, and go on. Docs/CustomStorage.md of swift-dao explains each method with a complete example, and how
        `swift package conformance --target …  --html report.html` writes the results as a page.

        """
    }
}
