// swift-tools-version: 6.1
import PackageDescription

// On Apple's platforms SQLite is part of each SDK. The flags of another one, such as brew's, are those of macOS, and SwiftPM would pass
// them to builds for iOS and Mac Catalyst too.
#if os(Linux)
    let sqlitePackage: String? = "sqlite3"
#else
    let sqlitePackage: String? = nil
#endif

// What an application has to declare for Apple: that libraries look at times of files and at free space. Linux gets no bundle.
#if os(Linux)
    let (privacyResources, privacyExclusions): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
#else
    let (privacyResources, privacyExclusions): ([Resource], [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#endif

// The manifest is the map of the suite: every target an application may depend on is a product of its own,
// and each imports only what stands below it.
let package = Package(
    name: "swift-dao",
    // Not watchOS: it has 32 bits on some watches, and the positions of locks in files need more. Mac Catalyst follows iOS.
    platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .visionOS(.v1)],
    products: [
        .library(name: "DAOCore", targets: ["DAOCore"]),
        .library(name: "DAOKeyValue", targets: ["DAOKeyValue"]),
        .library(name: "DAOMemory", targets: ["DAOMemory"]),
        .library(name: "DAOLMDB", targets: ["DAOLMDB"]),
        .library(name: "DAOSQL", targets: ["DAOSQL"]),
        .library(name: "DAOSQLite", targets: ["DAOSQLite"]),
        .library(name: "DAOPostgres", targets: ["DAOPostgres"]),
        .library(name: "DAOInstruments", targets: ["DAOInstruments"]),
        .library(name: "DAOSearch", targets: ["DAOSearch"]),
        .library(name: "DAOTesting", targets: ["DAOTesting"]),
        .library(name: "DAOTransport", targets: ["DAOTransport"]),
        .library(name: "DAOCurl", targets: ["DAOCurl"]),
        .library(name: "DAONodes", targets: ["DAONodes"]),
        .library(name: "DAOConformance", targets: ["DAOConformance"]),
        .library(name: "DAOPropertyTesting", targets: ["DAOPropertyTesting"]),
        .executable(name: "dao", targets: ["dao-cli"]),
        .executable(name: "dao-demo", targets: ["dao-demo"]),
        .executable(name: "dao-offline-demo", targets: ["dao-offline-demo"]),
        .executable(name: "dao-bench", targets: ["dao-bench"]),
        .executable(name: "dao-conformance", targets: ["dao-conformance"]),
        .executable(name: "dao-soak", targets: ["dao-soak"]),
        .executable(name: "dao-generate-models", targets: ["dao-generate-models"]),
        .plugin(name: "DAOPlugin", targets: ["DAOPlugin"]),
        .plugin(name: "DAOConformancePlugin", targets: ["DAOConformancePlugin"]),
        .plugin(name: "DAOGenerateModelsPlugin", targets: ["DAOGenerateModelsPlugin"]),
        .plugin(name: "DAONewStoragePlugin", targets: ["DAONewStoragePlugin"]),
    ],
    // A package is fetched only where its trait is on. By default all are off.
    traits: [
        .default(enabledTraits: Context.environment["DAO_ENCRYPTION"] == "1" ? ["Encryption"] : []),
        .trait(name: "Encryption", description: "DAOSQLite opens encrypted files, with the system's libcrypto"),
        .trait(name: "SwiftLog", description: "DAOInstruments logs calls with swift-log"),
        .trait(name: "SwiftMetrics", description: "DAOInstruments records calls with swift-metrics"),
        .trait(name: "SwiftDistributedTracing", description: "DAOInstruments records calls with swift-distributed-tracing"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.1.0"),
    ],
    targets: [
        // System libraries
        .systemLibrary(name: "DAOSystemSQLite", pkgConfig: sqlitePackage, providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "DAOSystemPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(name: "DAOSystemLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "DAOSystemMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        .systemLibrary(
            name: "DAOSystemCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),

        // What of a URL may appear in a description, an error or a log
        .target(name: "DAORedaction"),

        // Atomic access to memory, in C, for Apple's systems without one of the standard library
        .target(name: "DAOAtomics"),

        // The words, and the one meaning of predicates and sorting
        .target(
            name: "DAOCore", dependencies: ["DAOAtomics", "DAORedaction"], exclude: privacyExclusions,
            resources: privacyResources),

        // What an instrument is told, for the packages of the traits; empty without them
        .target(
            name: "DAOInstruments",
            dependencies: [
                "DAOCore", .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["SwiftMetrics"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["SwiftDistributedTracing"])),
            ]),

        // A database on any ordered key-value store, and two such stores
        .target(name: "DAOKeyValue", dependencies: ["DAOCore"]),
        .target(name: "DAOMemory", dependencies: ["DAOKeyValue"]),
        .target(name: "DAOLMDB", dependencies: ["DAOKeyValue", "DAOSystemLMDB"]),

        // A database on any SQL engine, and two such engines
        .target(name: "DAOSQL", dependencies: ["DAOCore"]),
        .target(
            name: "DAOSQLite", dependencies: ["DAOSQL", "DAOSQLiteChecksums", "DAOSQLiteCipher", "DAOSystemSQLite"],
            exclude: privacyExclusions, resources: privacyResources),
        .target(name: "DAOPostgres", dependencies: ["DAOSQL", "DAORedaction", "DAOSystemPostgres"]),
        // Checksums of pages, in C: a layer below SQLite
        .target(name: "DAOSQLiteChecksums", dependencies: ["DAOSystemSQLite"]),
        // Encryption of pages, in C: another layer below SQLite. Empty without its trait
        .target(
            name: "DAOSQLiteCipher", dependencies: ["DAOSQLiteChecksums", "DAOSystemSQLite"],
            cSettings: [.define("DAO_ENCRYPTION", .when(traits: ["Encryption"]))],
            linkerSettings: [.linkedLibrary("crypto", .when(platforms: [.linux], traits: ["Encryption"]))]),

        // A database that fails when the tests of an application say so
        .target(name: "DAOTesting", dependencies: ["DAOCore"]),

        // Full-text search
        .target(name: "DAOSearch", dependencies: ["DAOCore"]),

        // From the wire to a DAO: wire models, endpoints and the client; the steps of a processing chain,
        // those of a DAO among them
        .target(name: "DAOTransport", dependencies: ["DAORedaction"]),
        // A client on libcurl, for Linux
        .target(name: "DAOCurl", dependencies: ["DAOTransport", "DAORedaction", "DAOSystemCurl"]),
        .target(name: "DAONodes", dependencies: ["DAOTransport", "DAOCore", "DAORedaction"]),

        // The contract as a suite that anybody can run on their storage
        .target(name: "DAOConformance", dependencies: ["DAOCore", "DAORedaction", "DAOSearch", "DAOTestSupport"]),
        // The contract on generated steps, against a reference model
        .target(name: "DAOPropertyTesting", dependencies: ["DAOConformance", "DAOCore", "DAOTestSupport"]),
        // What the suite, the tests and the measurements share
        .target(name: "DAOTestSupport", dependencies: ["DAOCore"]),

        // Models, schemas and translators from the values of a target or the catalog of a database
        .target(name: "DAOModelGeneration", dependencies: ["DAOCore"]),

        // What `swift package new-storage` copies: storages whose methods are still to be written
        .target(name: "DAOStorageSkeletons", dependencies: ["DAOCore", "DAOKeyValue", "DAOSQL"]),

        // Tests
        .target(
            name: "DAOExamples",
            dependencies: [
                "DAOConformance", "DAOPropertyTesting", "DAOMemory", "DAOSQL", "DAOSQLite", "DAOLMDB", "DAOPostgres", "DAONodes",
                "DAOCurl", "DAOSearch",
            ],
            path: "Tests/DAOExamples"),
        .testTarget(
            name: "DAODocumentationTests",
            dependencies: [
                "DAOExamples", "DAOConformance", "DAOPropertyTesting", "DAOMemory", "DAOSQLite", "DAOPostgres", "DAOTesting",
                "DAOTestSupport",
            ]),
        .testTarget(
            name: "DAOKeyValueTests",
            dependencies: ["DAOKeyValue", "DAOMemory", "DAOLMDB", "DAOExamples", "DAOTestSupport"]),
        .testTarget(name: "DAOSQLTests", dependencies: ["DAOSQL", "DAOSQLite", "DAOConformance", "DAOExamples"]),
        .testTarget(
            name: "DAOSQLiteTests", dependencies: ["DAOSQLite", "DAOMemory", "DAOSystemSQLite", "DAOTestSupport"]),
        .testTarget(
            name: "DAOPostgresTests",
            dependencies: [
                "DAOPostgres", "DAOSearch", "DAOConformance", "DAOMemory", "DAOPropertyTesting", "DAOSystemPostgres",
                "DAOTestSupport", "dao-conformance",
            ]),
        .testTarget(
            name: "DAOSearchTests",
            dependencies: ["DAOSearch", "DAOMemory", "DAOSQLite", "DAOLMDB", "DAOPostgres", "DAOTestSupport"]),
        .testTarget(name: "DAOOrderedStoreTests", dependencies: ["DAOMemory", "DAOLMDB", "DAOSystemLMDB", "DAOTestSupport"]),
        .testTarget(
            name: "DAORelationshipTests",
            dependencies: ["DAOMemory", "DAOSQLite", "DAOLMDB", "DAOKeyValue", "DAOSystemSQLite", "DAOTestSupport"]),
        .testTarget(
            name: "DAOCoreTests", dependencies: ["DAOCore", "DAOMemory", "DAOSQLite", "DAOLMDB", "DAOTesting", "DAOTestSupport"]),
        .testTarget(
            name: "DAOConformanceTests",
            dependencies: [
                "DAOConformance", "DAOPropertyTesting", "DAOMemory", "DAOSQL", "DAOSQLite", "DAOLMDB", "DAOPostgres",
                "DAOStorageSkeletons",
                "DAOTestSupport", "DAOSystemSQLite", "dao-conformance", "dao-misbehaving-conformance",
            ],
            exclude: ["Files", "Misbehaving"]),
        // The suite on a database that ends its process
        .executableTarget(
            name: "dao-misbehaving-conformance", dependencies: ["DAOConformance", "DAOExamples", "DAOMemory"],
            path: "Tests/DAOConformanceTests/Misbehaving"),
        // What a process leaves that is killed in the middle of a migration or a copy
        .target(name: "DAOEvolutionTestModels", dependencies: ["DAOSQLite", "DAOLMDB"], path: "Tests/DAOEvolutionTests/Support"),
        .executableTarget(
            name: "dao-evolution-child", dependencies: ["DAOEvolutionTestModels"], path: "Tests/DAOEvolutionTests/Child"),
        .testTarget(
            name: "DAOEvolutionTests",
            dependencies: ["DAOEvolutionTestModels", "DAOConformance", "DAOTestSupport", "dao-evolution-child"],
            exclude: ["Child", "Support"]),
        .testTarget(
            name: "DAOPropertyTestingTests",
            dependencies: [
                "DAOPropertyTesting", "DAOConformance", "DAOMemory", "DAOSQLite", "DAOLMDB", "DAOExamples", "DAOTestSupport",
            ]),
        // An API module of its own, to prove that envelopes may stay internal to the module that declares
        // them
        .target(name: "DAOBookAPI", dependencies: ["DAOTransport"], path: "Tests/DAOTransportTests/BookAPI"),
        // A real HTTP server on loopback for the tests, run by Python's standard library
        .target(
            name: "DAOLoopbackServer", dependencies: ["DAOTransport", "DAOCurl", "DAOTestSupport"],
            path: "Tests/DAOTransportTests/Server",
            resources: [.copy("server.py"), .copy("tls.py")]),
        // Asks a server for answers that can end the process
        .executableTarget(
            name: "dao-answer-child", dependencies: ["DAOTransport", "DAOLoopbackServer"], path: "Tests/DAOTransportTests/Child"),
        .testTarget(
            name: "DAOTransportTests",
            dependencies: [
                "DAOTransport", "DAOCurl", "DAORedaction", "DAOBookAPI", "DAOLoopbackServer", "DAOTestSupport",
                "dao-answer-child",
            ],
            exclude: ["BookAPI", "Child", "Server"]),
        .testTarget(
            name: "DAONodesTests",
            dependencies: [
                "DAONodes", "DAOCurl", "DAOMemory", "DAOSQLite", "DAOLMDB", "DAOExamples", "DAOLoopbackServer", "DAOTestSupport",
                "dao-offline-demo",
            ]),

        .testTarget(name: "DAOModelGenerationTests", dependencies: ["DAOModelGeneration", "DAOMemory", "DAOTestSupport"]),

        // The command line
        .testTarget(
            name: "DAOCommandLineTests",
            dependencies: ["DAOSQLite", "DAOLMDB", "DAOPostgres", "DAOSearch", "DAOSystemSQLite", "DAOTestSupport", "dao-cli"]),

        // Several processes on one database, and what is left when one of them is killed
        .target(
            name: "DAOChildProcesses", dependencies: ["DAOConformance", "DAOSQLite", "DAOLMDB", "DAOSearch", "DAOTestSupport"],
            path: "Tests/DAOProcessTests/Support"),
        // The calls of a program on its files: recorded, failing, or preceded by an action
        .target(name: "DAOFileCalls", path: "Tests/DAOProcessTests/Calls"),
        .executableTarget(
            name: "dao-child", dependencies: ["DAOChildProcesses", "DAOConformance", "DAOFileCalls", "DAOTestSupport"],
            path: "Tests/DAOProcessTests/Child"),
        .testTarget(
            name: "DAOProcessTests",
            dependencies: [
                "DAOChildProcesses", "DAOConformance", "DAOPropertyTesting", "dao-child", "DAOMemory", "DAOSystemLMDB",
                "DAOSystemSQLite",
                "DAOTestSupport",
            ],
            exclude: ["Calls", "Child", "Support"]),

        // Programs: they know every backend
        .executableTarget(
            name: "dao-cli",
            dependencies: [
                "DAOSQLite", "DAOLMDB", "DAOPostgres", "DAOSearch", "DAOTransport", "DAORedaction", "DAOSystemMicroHTTPD",
            ],
            resources: [
                .embedInCode("Browse/Page/page.html"), .embedInCode("Browse/Page/page.css"),
                .embedInCode("Browse/Page/page.js"),
            ]),
        .executableTarget(name: "dao-generate-models", dependencies: ["DAOModelGeneration"]),
        .executableTarget(name: "dao-demo", dependencies: ["DAOMemory", "DAOSQLite", "DAOLMDB", "DAOPostgres", "DAOSearch"]),
        .executableTarget(name: "dao-offline-demo", dependencies: ["DAOMemory", "DAOSQLite", "DAOLMDB", "DAONodes", "DAOCurl"]),
        .executableTarget(
            name: "dao-bench",
            dependencies: [
                "DAOMemory", "DAOSQLite", "DAOLMDB", "DAOPostgres", "DAOSearch", "DAOSystemSQLite", "DAOSystemLMDB",
                "DAOSystemPostgres",
                "DAOTestSupport",
            ]),
        .executableTarget(
            name: "dao-conformance",
            dependencies: ["DAOConformance", "DAOMemory", "DAOSQLite", "DAOLMDB", "DAOPostgres", "DAOTestSupport"]),
        .executableTarget(
            name: "dao-soak",
            dependencies: [
                "DAOPropertyTesting", "DAOConformance", "DAOMemory", "DAOSQLite", "DAOLMDB", "DAOPostgres", "DAOTestSupport",
            ]),
        .plugin(
            name: "DAOPlugin",
            capability: .command(intent: .custom(verb: "dao", description: "Inspects, queries, copies and keeps databases"))
        ),
        .plugin(
            name: "DAOConformancePlugin",
            capability: .command(
                intent: .custom(verb: "conformance", description: "Runs the conformance suite on databases and prints its table"))
        ),
        .plugin(
            name: "DAOGenerateModelsPlugin",
            capability: .command(
                intent: .custom(
                    verb: "generate-models",
                    description: "Writes a model, a schema and a translator for each Plain of a target"),
                permissions: [.writeToPackageDirectory(reason: "It writes the models into the folder 'Models' of the target.")])
        ),
        .plugin(
            name: "DAONewStoragePlugin",
            capability: .command(
                intent: .custom(
                    verb: "new-storage", description: "Makes a target for a storage of your own, with its conformance test"),
                permissions: [.writeToPackageDirectory(reason: "It makes the folders of a target and of its tests.")])
        ),
    ],
    swiftLanguageModes: [.v6]
)

// `make` sets it: what tests call most is optimised in debug builds, and its assertions stay. Tests take half the time. The cases of
// DAOConformance are not: optimising its closures takes six minutes, longer than it saves.
if Context.environment["DAO_OPTIMIZED"] == "1" {
    let flags = ["-O", "-whole-module-optimization", "-num-threads", "2", "-assert-config", "Debug"]
    let called = [
        "DAOCore", "DAOKeyValue", "DAOMemory", "DAOLMDB", "DAOSQL", "DAOSQLite", "DAOPostgres", "DAOSearch", "DAOTestSupport",
        "DAOExamples", "DAOConformanceTests",
    ]
    for target in package.targets where called.contains(target.name) {
        target.swiftSettings = [.unsafeFlags(flags, .when(configuration: .debug))]
    }
}

// SwiftPM compiles a target again where a module changed that its manifest names. An application that names DAOSQLite alone, and
// imports DAOCore too, would keep code for the layout of the classes that DAOCore had before an update, and crash. Therefore
// every target and every product names all modules below it.
let namedDependencies = Dictionary(
    uniqueKeysWithValues: package.targets.map { target in
        (target.name, target.dependencies.compactMap { if case .byNameItem(let name, _) = $0 { name } else { nil } })
    })
func withAllBelow(_ names: [String]) -> [String] {
    var all = names
    var next = 0
    while next < all.count {
        all += (namedDependencies[all[next]] ?? []).filter { !all.contains($0) }
        next += 1
    }
    return all
}
for target in package.targets {
    let named = namedDependencies[target.name] ?? []
    target.dependencies += withAllBelow(named).dropFirst(named.count).map { .byName(name: $0) }
}
let systemLibraries = package.targets.filter { $0.type == .system }.map(\.name)
package.products = package.products.map { product in
    guard let library = product as? Product.Library else { return product }
    return .library(
        name: library.name, type: library.type, targets: withAllBelow(library.targets).filter { !systemLibraries.contains($0) })
}
