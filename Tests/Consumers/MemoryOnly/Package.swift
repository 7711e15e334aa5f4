// swift-tools-version: 6.1
import PackageDescription

// An application that uses one backend: it must build where the headers of the others are missing. It is in the
// Swift 5 language mode: the models of the README must compile there without a warning.
let package = Package(
    name: "MemoryOnly",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-dao", path: "../../..")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "DAOCore", package: "swift-dao"), .product(name: "DAOMemory", package: "swift-dao"),
            ])
    ],
    swiftLanguageModes: [.v5]
)
