// swift-tools-version: 6.1
import PackageDescription

// An application that uses the backend that BACKEND names: it must build where the headers of the others are
// missing.
let backend = Context.environment["BACKEND"] ?? "Memory"
// Many packages name their module of SQLite CSQLite. An application can have it beside swift-dao.
let ownModules: [Target] = backend == "SQLite" ? [.systemLibrary(name: "CSQLite", pkgConfig: "sqlite3")] : []
// The path from a server to a DAO, with Foundation's client: it needs no headers at all.
let products = backend == "Nodes" ? ["DAONodes", "DAOMemory"] : ["DAO\(backend)"]
let package = Package(
    name: "Consumer",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "swift-dao", path: "../..")],
    targets: ownModules + [
        .executableTarget(
            name: "App",
            dependencies: (["DAOCore"] + products).map { .product(name: $0, package: "swift-dao") }
                + ownModules.map { .init(stringLiteral: $0.name) },
            swiftSettings: [.define(backend)])
    ],
    // The models of the README must compile without a warning in the Swift 5 language mode, too.
    swiftLanguageModes: [backend == "Memory" ? .v5 : .v6]
)
