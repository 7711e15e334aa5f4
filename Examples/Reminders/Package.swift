// swift-tools-version: 6.1
import PackageDescription

// The data layer of a reminders app: every query of its screens is one call. Its tests run them on four databases.
let databases = ["DAOMemory", "DAOSQLite", "DAOLMDB", "DAOPostgres"]
let package = Package(
    name: "Reminders",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "swift-dao", path: "../..")],
    targets: [
        .target(name: "Reminders", dependencies: [.product(name: "DAOCore", package: "swift-dao")]),
        // For the queries by hand that `BarTests` measures beside ours.
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .testTarget(
            name: "RemindersTests",
            dependencies: ["Reminders", "CSQLite"]
                + (["DAOCore"] + databases).map { .product(name: $0, package: "swift-dao") }),
    ],
    swiftLanguageModes: [.v6]
)
