// swift-tools-version: 6.2

import PackageDescription

// The stand-ins for Cleeng, the App Store, Google Play, the Amazon Appstore and Roku Pay: a package beside the relay's, which
// shares no code with what it tests. The relay's manifest depends on this one, so that both are built in one graph and one folder, each
// dependency once. Versions stand in both manifests; SwiftPM resolves nothing where they differ.

/// As in the relay's manifest.
let strict = Context.environment["RELAY_WARNINGS_AS_ERRORS"] != nil

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
    + (strict ? [.treatAllWarnings(as: .error)] : [])

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The main function alone: what it calls is in a library, so that tests of another package can import it.
func program(_ name: String, _ library: Target.Dependency) -> Target {
    .executableTarget(
        name: name, dependencies: [library, argumentParser], path: "Sources/Programs/\(name)", swiftSettings: settings)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let locks = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")

let package = Package(
    name: "Simulators",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "cleeng-simulator", targets: ["cleeng-simulator"]),
        .executable(name: "app-store-simulator", targets: ["app-store-simulator"]),
        .executable(name: "store-simulator", targets: ["store-simulator"]),
        // What the relay's tests sign with.
        .library(name: "AppStoreSimulation", targets: ["AppStoreSimulation"]),
        // For the simulators' own tests, which are targets of the relay's package: see its manifest.
        .library(name: "CleengSimulator", targets: ["CleengSimulator"]),
        .library(name: "AppStoreSimulator", targets: ["AppStoreSimulator"]),
        .library(name: "StoreSimulator", targets: ["StoreSimulator"]),
        .library(name: "SimulatorKit", targets: ["SimulatorKit"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
    ],
    targets: [
        library("SimulatorKit", [argumentParser, hummingbird, lifecycle, locks, logging, nioCore]),
        library("AppStoreSimulation", [asn1, x509, crypto, cryptoExtras]),
        library(
            "CleengSimulator",
            ["SimulatorKit", argumentParser, asn1, crypto, httpClient, lifecycle, locks, nioCore, nioHTTP1]),
        library(
            "AppStoreSimulator",
            ["AppStoreSimulation", "SimulatorKit", argumentParser, crypto, httpClient, lifecycle, nioCore, nioHTTP1]),
        library(
            "StoreSimulator",
            [
                "SimulatorKit", argumentParser, asn1, crypto, cryptoExtras, httpClient, lifecycle, nioCore, nioHTTP1,
                x509,
            ]),
        program("cleeng-simulator", "CleengSimulator"),
        program("app-store-simulator", "AppStoreSimulator"),
        program("store-simulator", "StoreSimulator"),
    ],
    swiftLanguageModes: [.v6]
)
