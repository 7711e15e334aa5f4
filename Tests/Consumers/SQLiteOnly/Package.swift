// swift-tools-version: 6.1
import PackageDescription

// An application that uses one backend: it must build where the headers of the others are missing.
let package = Package(
    name: "SQLiteOnly",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-dao", path: "../../..")],
    targets: [
        // Many packages name their module of SQLite so. The two can be in one application.
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
        .executableTarget(
            name: "App",
            dependencies: [
                "CSQLite",
                .product(name: "DAOCore", package: "swift-dao"), .product(name: "DAOSQLite", package: "swift-dao"),
            ]),
    ]
)
