import AppStoreSimulation
import ArgumentParser
import AsyncHTTPClient
import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOHTTP1
import TestRun
import Testing

@testable import AppStoreSimulator

@Suite("app-store-simulator serve as a process", .timeLimit(.paced(minutes: 4)))
struct ServeCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try APIBench.authority.get().write(to: folder, name: "transactions")
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @Test func aKeyAsAppStoreConnectGivesItOut() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try CreateAPIKey.parse(["--output", path("key.p8")]).run()
        let pem = try String(contentsOfFile: path("key.p8"), encoding: .utf8)
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"), "PKCS#8")
        #expect(throws: Never.self) { try P256.Signing.PrivateKey(pemRepresentation: pem) }
        let attributes = try FileManager.default.attributesOfItem(atPath: path("key.p8"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(throws: (any Error).self) { try CreateAPIKey.parse(["--output", path("key.p8")]).run() }
        #expect(try String(contentsOfFile: path("key.p8"), encoding: .utf8) == pem)
        #expect(throws: (any Error).self) { try CreateAPIKey.parse(["--output", path("no/key.p8")]).run() }
    }

    @Test(arguments: [false, true]) func itServesUntilItIsToldToEnd(publicKeyAlone: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = publicKeyAlone ? APIToken.key.publicKey.pemRepresentation : APIToken.key.pemRepresentation
        try Data(key.utf8).write(to: folder.appendingPathComponent("key"))
        let process = try start(["--key-file", path("key"), "--port", "0"])
        let prefix = "app-store-simulator listening on "
        let line = try await firstLine()
        #expect(line.hasPrefix(prefix))
        let bench = APIBench(url: String(line.dropFirst(prefix.count)), time: ManualTime())
        #expect(try await bench.statuses("1").errorCode == 4_040_010)
        try await bench.put("1")
        let item = try #require(try await bench.statuses("1").items.first)
        let text = try #require(item["signedTransactionInfo"] as? String)
        #expect(try await isGenuine(text, by: APIBench.authority.get()))
        // One that hangs does not hold it up.
        try await bench.control(.PUT, "trouble", #"{"hang":true}"#)
        let hanging = Task { try? await bench.statuses("1") }
        try await eventually {
            try await bench.control(.GET, "requests").json["items"].map { ($0 as? [Any])?.count } == 3
        }
        process.terminate()
        try await eventually { !process.isRunning }
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 0)
        _ = await hanging.value
    }

    @Test func whatCannotBeServed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let good = ["--roots", path(""), "--key-file", "k", "--key-id", "K", "--issuer-id", APIToken.issuerId]
        #expect(throws: Never.self) { try ServeAPI.parse(good) }
        for wrong in [
            ["--port", "65536"], ["--page-size", "0"], ["--page-size", "101"], ["--keep-requests", "0"],
            ["--environment", "Xcode"], ["--issuer-id", "me"], ["--key-id", ""], ["--bundle-id", ""],
        ] {
            #expect(throws: (any Error).self, "\(wrong)") { try ServeAPI.parse(good + wrong) }
        }
        try Data("no key".utf8).write(to: folder.appendingPathComponent("key"))
        await #expect(throws: (any Error).self) { try await ServeAPI.parse(good).run() }
        await #expect(throws: (any Error).self) { try await ServeAPI.parse(good + ["--key-file", path("key")]).run() }
    }

    private func start(_ more: [String]) throws -> Process {
        let environment = ProcessInfo.processInfo.environment
        let binaries =
            environment["RELAY_BIN_DIR"].map { URL(fileURLWithPath: $0) }
            ?? URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let process = Process()
        process.executableURL = binaries.appendingPathComponent("app-store-simulator")
        process.arguments =
            ["serve", "--roots", folder.path, "--key-id", APIToken.keyId, "--issuer-id", APIToken.issuerId] + more
        _ = FileManager.default.createFile(atPath: path("output"), contents: nil)
        process.standardOutput = try FileHandle(forWritingTo: folder.appendingPathComponent("output"))
        try process.run()
        return process
    }

    private func firstLine() async throws -> String {
        var line: Substring?
        try await eventually {
            let output = try String(contentsOfFile: path("output"), encoding: .utf8)
            line = output.firstIndex(of: "\n").map { output[..<$0] }
            return line != nil
        }
        return String(line ?? "")
    }

    private struct NeverHappened: Error {}

    /// Fails rather than hangs.
    private func eventually(_ condition: () async throws -> Bool) async throws {
        let limit = ContinuousClock.now + .seconds(180)
        while try await !condition() {
            guard ContinuousClock.now < limit else { throw NeverHappened() }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
