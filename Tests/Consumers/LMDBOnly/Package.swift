// swift-tools-version: 6.1
import PackageDescription

// An application that uses one backend: it must build where the headers of the others are missing.
let package = Package(
    name: "LMDBOnly",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-dao", path: "../../..")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "DAOCore", package: "swift-dao"), .product(name: "DAOLMDB", package: "swift-dao"),
            ])
    ]
)
