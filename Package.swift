// swift-tools-version: 6.2

import PackageDescription

/// `RELAY_WARNINGS_AS_ERRORS=1 swift build` is what CI does; a newer compiler's new warning must not break a user's build.
let strict = Context.environment["RELAY_WARNINGS_AS_ERRORS"] != nil

let commonSettings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
    + (strict ? [.treatAllWarnings(as: .error)] : [])
let settings = commonSettings + [.enableUpcomingFeature("InternalImportsByDefault")]

/// Targets that the executable can do without: `RELAY_WITHOUT=billing swift build --product receipt-relay`.
let without = Set((Context.environment["RELAY_WITHOUT"] ?? "").lowercased().split(separator: ",").map(String.init))
let features = ["Billing", "Console", "PurchasesAPI"]

/// A target of a folder under Sources/: Base, Core, Stores or Features. Each of Base and Features has a page.
func room(
    _ name: String, in folder: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)",
        exclude: ["Base", "Features"].contains(folder) ? ["README.md"] : [],
        resources: resources, swiftSettings: settings)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], path: String? = nil, exclude: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestRun"], path: path, exclude: exclude,
        swiftSettings: commonSettings)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let jwt = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let locks = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioFoundation = Target.Dependency.product(name: "NIOFoundationCompat", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let instrumentation = Target.Dependency.product(name: "Instrumentation", package: "swift-distributed-tracing")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let structuredFields = Target.Dependency.product(
    name: "RawStructuredFieldValues", package: "swift-http-structured-headers")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

/// A product of the package beside this one. Tests name the executables that they start, so that a build of the tests builds them.
func simulators(_ product: String) -> Target.Dependency { .product(name: product, package: "Simulators") }
let appStoreSimulation = simulators("AppStoreSimulation")

/// Tests of the simulators. They stand beside them and are targets of this package: `swift test` runs the tests of the root package
/// alone, and so one run counts all tests.
func simulatorTests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    tests(name, dependencies, path: "Simulators/Tests/\(name)")
}

/// What scripts/fuzz reads bytes with.
let fuzzed: [Target.Dependency] = [
    "AmazonAppStore", "AppStoreServer", "Billing", "Console", "PurchasesAPI", appStoreSimulation, "AppleStore",
    "Cleeng",
    "GooglePlay",
    "RelayCore",
    "HTTPServer", "Relay",
    "OutboundHTTP", "RokuPay", "StoreAPI", "StoreSignals", "TestSupport", "Traces", "Webhooks", nioCore, nioHTTP1,
]

let package = Package(
    name: "receipt-relay",
    // What runs on phones is RelayClient alone.
    platforms: [.macOS(.v15), .iOS(.v16), .tvOS(.v16)],
    products: [
        .executable(name: "receipt-relay", targets: ["ReceiptRelay"]),
        .executable(name: "relay-load", targets: ["RelayLoad"]),
        .executable(name: "relay-app", targets: ["RelayApp"]),
        .library(name: "Postgres", targets: ["Postgres"]),
        .library(name: "RelayClient", targets: ["RelayClient"]),
    ],
    dependencies: [
        // No target of what is delivered depends on it: a build of receipt-relay or RelayClient compiles nothing of it.
        .package(path: "Simulators"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections.git", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration.git", exact: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-structured-headers.git", exact: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", exact: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams.git", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", exact: "5.7.1"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibPQ", path: "Sources/Base/CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        room("Formats", in: "Base", []),
        room("Traces", in: "Base", [instrumentation, locks, logging, metrics, tracing]),
        room(
            "OutboundHTTP", in: "Base",
            [
                "Formats", "Traces", httpClient, instrumentation, locks, nioCore, nioHTTP1, nioPosix, nioSSL, nioTLS,
                tracing,
            ]),
        room(
            "TraceExport", in: "Base",
            ["Formats", "OutboundHTTP", "Traces", httpClient, lifecycle, logging, metrics, tracing]),
        room("Postgres", in: "Base", ["CLibPQ", locks, logging]),
        room("Telemetry", in: "Base", ["Formats", logging, metrics, locks]),
        room(
            "HTTPServer", in: "Base",
            [
                "Formats", "Telemetry", "Traces", hummingbird, instrumentation, lifecycle, locks, logging, metrics,
                nioCore, tracing,
            ]),
        room("RelayCore", in: "Core", ["Formats"]),
        room(
            "Cleeng", in: "Core",
            ["Formats", "RelayCore", "OutboundHTTP", httpClient, nioCore, nioHTTP1, locks, logging]),
        room(
            "Webhooks", in: "Core",
            ["Formats", "RelayCore", "OutboundHTTP", httpClient, crypto, locks, nioCore, nioHTTP1, nioPosix]),
        room(
            "Relay", in: "Core",
            [
                "AppStoreServer", "AppleStore", "Cleeng", "Formats", "GooglePlay", "HTTPServer",
                "Postgres", "RelayCore", "StoreAPI", "StoreSignals", "Telemetry", "Traces", "Webhooks",
                crypto, cryptoExtras, heap, hummingbird, instrumentation, jwt, lifecycle, locks, logging, metrics,
                nioCore, structuredFields, tracing,
            ],
            // A link to `migrations/`: the executable carries the SQL that stands there.
            resources: [.embedInCode("Migrations/SQL")]),
        room("AppleStore", in: "Stores", ["Formats", "RelayCore", asn1, x509, crypto, locks]),
        room("StoreSignals", in: "Stores", ["Formats", "RelayCore", asn1, x509]),
        room(
            "AppStoreServer", in: "Stores",
            ["Formats", "RelayCore", "OutboundHTTP", httpClient, jwt, logging, nioCore, nioFoundation, nioHTTP1]),
        room("StoreAPI", in: "Stores", ["RelayCore", "OutboundHTTP"]),
        room(
            "GooglePlay", in: "Stores",
            ["StoreAPI", "RelayCore", "Formats", "OutboundHTTP", httpClient, jwt, logging, nioCore, nioHTTP1]),
        room(
            "AmazonAppStore", in: "Stores",
            [
                "StoreAPI", "StoreSignals", "RelayCore", "Formats", "OutboundHTTP", "Webhooks", httpClient, logging,
                nioCore, nioHTTP1,
            ]),
        room(
            "RokuPay", in: "Stores",
            ["StoreAPI", "RelayCore", "Formats", "OutboundHTTP", httpClient, logging, nioCore, nioHTTP1]),
        room(
            "Billing", in: "Features",
            [
                "AppleStore", "Formats", "HTTPServer", "Relay", "Postgres", "RelayCore",
                "Webhooks",
                crypto, hummingbird, logging, nioCore,
            ]),
        room(
            "Console", in: "Features",
            [
                "Formats", "HTTPServer", "Relay", "Postgres", "RelayCore",
                "StoreSignals", crypto,
                hummingbird, locks, mustache,
            ],
            resources: [.embedInCode("Pages/Templates"), .embedInCode("Pages/Assets")]),
        room(
            "PurchasesAPI", in: "Features",
            [
                "AppleStore", "Formats", "HTTPServer", "Relay", "RelayCore",
                hummingbird, nioCore,
            ]),
        .executableTarget(
            name: "ReceiptRelay",
            dependencies: [
                "Formats", "HTTPServer", "Relay", "RelayCore",
                "AppleStore",
                "AppStoreServer",
                "Cleeng",
                "GooglePlay", "AmazonAppStore", "RokuPay", "Postgres", "StoreSignals", "Telemetry",
                "Traces",
                "OutboundHTTP", "TraceExport",
                "Webhooks",
                argumentParser, configuration, httpClient, instrumentation, lifecycle, logging, metrics,
                nioCore, nioHTTP1,
                signals,
                locks,
                yams,
                "Billing", "Console", "PurchasesAPI",
            ],
            swiftSettings: settings
                + features.filter { !without.contains($0.lowercased()) }.map { .define("FEATURE_\($0.uppercased())") }),
        // Of apps: it knows nothing of the rooms below.
        .target(name: "RelayClient", path: "Sources/Clients/RelayClient", swiftSettings: commonSettings),
        .executableTarget(
            name: "RelayLoad",
            dependencies: [
                "AppleStore", appStoreSimulation, "RelayCore", argumentParser, locks, nioCore, nioHTTP1, nioPosix,
            ],
            path: "Sources/Clients/RelayLoad", swiftSettings: settings),
        .executableTarget(
            name: "RelayApp", dependencies: ["RelayClient", argumentParser], path: "Sources/Clients/RelayApp",
            swiftSettings: settings),
        .target(name: "TestSupport", dependencies: [yams], path: "Tests/TestSupport", swiftSettings: commonSettings),
        tests("RelayClientTests", ["RelayClient"]),
        tests("FormatsTests", ["Formats"]),
        // How many tests a run has, and how long they may wait.
        .target(name: "TestRun", path: "Tests/TestRun", swiftSettings: commonSettings),
        tests("RelayCoreTests", ["Formats", "RelayCore", "TestSupport"]),
        tests(
            "ConsoleTests",
            ["Console", "Formats", "Postgres", "RelayCore", "Relay", "TestSupport", crypto, hummingbird, locks]),
        simulatorTests(
            "AppStoreSimulatorTests",
            [
                simulators("AppStoreSimulator"), simulators("app-store-simulator"), simulators("SimulatorKit"),
                appStoreSimulation, "AppleStore", argumentParser, crypto, httpClient, locks, nioCore, nioHTTP1,
            ]),
        simulatorTests(
            "CleengSimulatorTests",
            [
                simulators("CleengSimulator"), simulators("SimulatorKit"), appStoreSimulation, httpClient, locks,
                nioCore, nioHTTP1,
            ]),
        simulatorTests(
            "StoreSimulatorTests",
            [
                simulators("StoreSimulator"), simulators("SimulatorKit"), "ReceiverSupport", "StoreTestSupport",
                argumentParser, asn1, crypto, cryptoExtras, httpClient, hummingbird, locks, nioCore, nioHTTP1, x509,
            ]),
        tests(
            "AppleStoreTests",
            ["AppleStore", appStoreSimulation, "RelayCore", "TestSupport", asn1, x509, crypto, locks]),
        tests(
            "CleengTests",
            [
                "OutboundHTTP", "Cleeng", "ReceiverSupport", "RelayCore", hummingbird, httpClient, nioCore, nioHTTP1,
                nioPosix, logging, locks,
            ]),
        .target(
            name: "ReceiverSupport", dependencies: [hummingbird, logging, locks, nioCore, nioPosix],
            path: "Tests/ReceiverSupport", swiftSettings: commonSettings),
        tests(
            "WebhooksTests",
            [
                "OutboundHTTP", "ReceiverSupport", "Webhooks", "Relay", "RelayCore", "Postgres",
                hummingbird, crypto, lifecycle, logging, locks, nioCore, nioPosix, nioSSL, asn1, httpClient, x509,
            ]),
        .target(
            name: "StoreTestSupport",
            dependencies: [
                "OutboundHTTP", "TestSupport", simulators("store-simulator"), httpClient, hummingbird, locks, logging,
                nioCore, nioHTTP1, nioPosix,
            ],
            path: "Tests/StoreTestSupport", swiftSettings: commonSettings),
        tests(
            "OutboundHTTPTests",
            [
                "AmazonAppStore", "AppStoreServer", "Cleeng", "GooglePlay", "OutboundHTTP", "ReceiverSupport",
                "RelayCore", "RokuPay", "StoreAPI",
                "StoreTestSupport", "Webhooks", asn1, crypto, cryptoExtras, httpClient, jwt, locks, logging, nioCore,
                nioEmbedded, nioHTTP1, nioPosix, nioSSL, nioTLS, x509,
            ]),
        tests("StoreAPITests", ["OutboundHTTP", "StoreAPI", "RelayCore"]),
        tests(
            "GooglePlayTests",
            [
                "OutboundHTTP",
                "GooglePlay", "StoreAPI", "ReceiverSupport", "StoreTestSupport", "RelayCore", hummingbird, httpClient,
                jwt, logging,
                nioCore,
            ]),
        tests("StoreSignalsTests", ["StoreSignals", "RelayCore", asn1, crypto, cryptoExtras, x509]),
        tests(
            "AmazonAppStoreTests",
            [
                "OutboundHTTP", "AmazonAppStore", "ReceiverSupport", "StoreAPI", "StoreTestSupport", "RelayCore",
                hummingbird,
                httpClient,
                logging, nioCore,
            ]),
        tests(
            "RokuPayTests",
            [
                "OutboundHTTP", "ReceiverSupport", "RokuPay", "StoreAPI", "StoreTestSupport", "RelayCore", hummingbird,
                httpClient, logging, nioCore,
            ]),
        tests("AppStoreServerTests", ["AppStoreServer", "OutboundHTTP", nioCore, nioHTTP1]),
        tests("PostgresTests", ["Postgres", "CLibPQ", logging]),
        tests(
            "HTTPServerTests",
            ["Formats", "HTTPServer", "ReceiverSupport", "Telemetry", hummingbird, locks, logging, nioCore, nioPosix]),
        tests(
            "RelayFrontTests",
            [
                "Formats", "HTTPServer", "Relay", "RelayCore", "AppleStore", appStoreSimulation,
                "TestSupport",
                hummingbird,
                nioCore,
            ]),
        tests(
            "BillingTests",
            [
                "Billing", "Formats", "HTTPServer", "Postgres", "RelayCore", "Relay", "TestSupport",
                hummingbird, locks, logging, nioCore,
            ]),
        tests(
            "PurchasesAPITests",
            ["Formats", "HTTPServer", "PurchasesAPI", "RelayCore", "Relay", "TestSupport", hummingbird, nioCore]),
        tests("OperationsTests", ["Formats", "Relay", "RelayCore"]),
        tests("RelayStoreTests", ["Formats", "Relay", "RelayCore", "Postgres", "TestSupport", crypto]),
        tests("RelayWorkersTests", ["Relay", "RelayCore", lifecycle, locks, logging]),
        tests(
            "TracesTests",
            [
                "OutboundHTTP", "ReceiverSupport", "TraceExport", "Traces", httpClient, hummingbird, instrumentation,
                lifecycle, locks,
                logging, metrics, nioHTTP1, tracing,
            ]),
        tests("TelemetryTests", ["Telemetry", logging, metrics, locks]),
        // The sources of scripts/fuzz too: see below.
        tests("FuzzTests", fuzzed, path: "Tests/Fuzz", exclude: ["Driver.swift"]),
        tests(
            "ServiceTests",
            [
                simulators("cleeng-simulator"), simulators("app-store-simulator"), simulators("store-simulator"),
                "ReceiptRelay", "Relay", "RelayCore",
                "Postgres",
                appStoreSimulation,
                "TestSupport",
                "ReceiverSupport", "RelayClient", "Cleeng", "Webhooks", crypto, hummingbird, httpClient, locks,
                logging, nioCore, nioFoundation, nioHTTP1, nioPosix, yams,
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// As a dependency of an app this package is RelayClient and Postgres. SwiftPM takes no package by its version that depends on a folder. While
// it resolves, it reads the manifest out of the repository, where the folder is "/".
if Context.packageDirectory == "/" || Context.packageDirectory.contains("/checkouts/") {
    package.targets.removeAll { $0.type == .test || $0.path?.hasPrefix("Tests/") == true || $0.name == "RelayLoad" }
    package.products.removeAll { $0.name == "relay-load" }
    package.dependencies.removeAll { dependency in
        if case .fileSystem = dependency.kind { return true }
        return false
    }
}

// A feature's tests leave with it, and so do the targets of tests that are of all features.
if !without.isEmpty {
    let left = features.filter { without.contains($0.lowercased()) }
    guard left.count == without.count else {
        fatalError("RELAY_WITHOUT knows only: \(features.joined(separator: ", "))")
    }
    package.targets.removeAll { left.flatMap { [$0, $0 + "Tests"] }.contains($0.name) }
    package.targets.removeAll { ["ServiceTests", "FuzzTests"].contains($0.name) }
    for target in package.targets {
        target.dependencies.removeAll { dependency in
            if case .byNameItem(let name, _) = dependency { return left.contains(name) }
            return false
        }
    }
}

// What scripts/sanitize tests: the targets that share memory between threads.
if Context.environment["RELAY_SANITIZE"] != nil {
    let tested: Set = ["HTTPServerTests", "PostgresTests", "RelayCoreTests", "RelayStoreTests"]
    package.targets.removeAll { $0.type == .test && !tested.contains($0.name) }
}

// What scripts/fuzz builds: libFuzzer brings the main function along.
if Context.environment["RELAY_FUZZ"] != nil {
    package.targets.removeAll { $0.type == .test }
    package.targets.append(
        .executableTarget(
            name: "RelayFuzz", dependencies: fuzzed, path: "Tests/Fuzz", exclude: ["QuickFuzzTests.swift"],
            swiftSettings: commonSettings))
    package.products = []
}
