// swift-tools-version: 6.1
import PackageDescription

// An application that uses the backend that BACKEND names: it must build where the headers of the others are
// missing.
let backend = Context.environment["BACKEND"] ?? "Memory"
let package = Package(
    name: "Consumer",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-dao", path: "../..")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "DAOCore", package: "swift-dao"), .product(name: "DAO\(backend)", package: "swift-dao"),
            ],
            swiftSettings: [.define(backend)])
    ]
)
