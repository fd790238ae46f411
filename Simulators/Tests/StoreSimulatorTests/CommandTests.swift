import Foundation
import StoreTestSupport
import TestRun
import Testing

@Suite("store-simulator as a process", .timeLimit(.paced(minutes: 4)))
struct CommandTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json").path

    @Test func aKeyFileIsMadeAndNeverOverwritten() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        let arguments = ["google", "create-service-account", "--out", file, "--token-uri", "http://sim:1/token"]
        #expect(try StoreProcess.run(arguments) == 0)
        let made = try #require(FileManager.default.contents(atPath: file))
        let fields = try #require(try JSONSerialization.jsonObject(with: made) as? [String: Any])
        #expect(
            fields["type"] as? String == "service_account" && fields["token_uri"] as? String == "http://sim:1/token")
        #expect((fields["private_key"] as? String)?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true, "PKCS#8")
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try StoreProcess.run(arguments) != 0)
        #expect(FileManager.default.contents(atPath: file) == made)
    }

    @Test(arguments: [
        ["google", "--service-account", "/nowhere"], ["google"], ["amazon"],
        ["google", "--service-account", "/nowhere", "--push-url", "ftp://x"], ["amazon", "--shared-secret", ""],
        ["amazon", "--shared-secret", "s", "--port", "65536"],
        ["amazon", "--shared-secret", "s", "--push-confirmed"],
        ["amazon", "--shared-secret", "s", "--push-url", "http://x", "--push-topic", "example"],
        ["amazon", "--shared-secret", "s", "--certificate-out", "/no/where"],
        ["roku"], ["roku", "--api-key", ""], ["roku", "--api-key", "k", "--push-form", "signed"],
        ["roku", "--api-key", "k", "--push-url", "http://x", "--push-form", "sealed"],
        ["google", "create-service-account", "--out", "/no/where"],
        ["google", "create-service-account", "--out", "/no/where", "--token-uri", "ftp://x"],
    ]) func whatCannotBeServedIsRefused(arguments: [String]) throws {
        #expect(try StoreProcess.run(arguments) != 0)
    }

    @Test func theControlSurfaceTakesNoSlipOfThePen() async throws {
        let store = try await StoreProcess.start(["amazon", "--shared-secret", "s"])
        defer { store.end() }
        for (method, path, body, status) in [
            ("PUT", "subscriptions/r", #"{"product":"x"}"#, 400),
            ("PUT", "subscriptions/r", #"{"renewalDate":"x"}"#, 400),
            ("PUT", "subscriptions/r", "[]", 400), ("GET", "subscriptions/r", "", 404),
            ("POST", "subscriptions/r/renew", "", 404), ("GET", "nothing", "", 404),
            ("PUT", "trouble", #"{"on":"token"}"#, 400), ("PUT", "trouble", #"{"status":99}"#, 400),
            ("PUT", "trouble", #"{"times":0}"#, 400), ("GET", "trouble", "", 405),
        ] {
            do {
                try await store.control(method, path, body)
                Issue.record("\(method) \(path) was taken")
            } catch StoreProcess.Fault.control(let code, _) {
                #expect(code == status, "\(method) \(path) \(body)")
            }
        }
        try await store.control("PUT", "subscriptions/r", #"{"renewalDate":"2026-10-22T10:00:00Z"}"#)
        #expect(
            try await store.control("GET", "subscriptions/r").contains(#""renewalDate":"2026-10-22T10:00:00.000Z""#))
        try await store.control("DELETE", "subscriptions/r")
        try await store.control("DELETE", "requests")
        #expect(try await store.requests() == [])
    }
}
