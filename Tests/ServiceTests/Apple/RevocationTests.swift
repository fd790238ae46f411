import AppStoreSimulation
import Foundation
import ReceiverSupport
import Testing

@testable import ReceiptRelay

/// Certificates are checked while purchases are processed, with `app-store-simulator serve` as Apple's responder.
@Suite struct RevocationTests {
    private static let checks = "relay_apple_certificate_checks_total"
    private static let gauge = "relay_apple_certificates_revoked"

    private func run(
        _ more: [String: String] = [:], _ body: (Setup, TestAppStore, AppStoreAPI) async throws -> Void
    ) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let api = try await AppStoreAPI.start(signing: store)
        try await api.during {
            var settings = ["RELAY_APPLE_REVOCATION_SECONDS": "1", "RELAY_APPLE_OCSP_URL": api.url]
            settings.merge(more, uniquingKeysWith: { $1 })
            try await Setup.run(settings: store.settings(relayingTo: nil, settings)) { setup in
                try await body(setup, store, api)
            }
        }
    }

    private func isGranted(_ purchase: TestPurchase, by relay: Relay) async throws {
        let posted = try await relay.purchase(purchase)
        #expect(posted.status == 202, "\(posted.text)")
        let id = try #require(posted.json["validationId"].string)
        #expect(try await relay.outcome(id)["status"].string == "granted")
        #expect(try await relay.detail(id)["verification"]["result"].string == "genuine")
    }

    private func counts(_ result: String, atLeast count: Double, _ relay: Relay) async throws {
        try await Awaiting.fact("\(count) certificates are \(result)") {
            try await relay.metric("\(Self.checks){result=\"\(result)\"}") ?? 0
        } holds: {
            $0 >= count
        }
    }

    private func gauge(is count: Double, _ relay: Relay) async throws {
        try await Awaiting.fact("\(count) are revoked", is: count) { try await relay.metric(Self.gauge) }
    }

    private func lines(_ level: String, _ text: String, _ relay: Relay) throws -> [JSON] {
        try relay.process.output.filter { $0.contains(text) }.map { try JSON(data: Data($0.utf8)) }
            .filter { $0["level"].string == level }
    }

    @Test func aRevocationIsSeenAndStopsNoPurchase() async throws {
        try await run { setup, store, api in
            let relay = setup.relay
            #expect(try await relay.metric(Self.gauge) == 0)
            try await isGranted(try store.purchase(email: "ana@example.test"), by: relay)
            try await counts("good", atLeast: 2, relay)
            try await api.revoke("leaf")
            try await gauge(is: 1, relay)
            try await counts("revoked", atLeast: 1, relay)
            // Transactions and notifications with the revoked certificate, and receipts with another revoked one.
            try await isGranted(try store.purchase(email: "bea@example.test"), by: relay)
            var life = try store.subscription()
            #expect(try await relay.notify(life.bought(at: Date()), signedBy: store).status == 200)
            try await isGranted(try store.receiptPurchase(email: "cyd@example.test"), by: relay)
            try await gauge(is: 2, relay)
            // An answer without proof changes nothing.
            try await api.answerOCSP("tryLater")
            try await counts("unknown", atLeast: 8, relay)
            #expect(try await relay.metric(Self.gauge) == 2)
            let critical = try lines("critical", "was revoked", relay)
            #expect(
                Set(critical.compactMap { $0["subject"].string }) == [
                    "CN=Test Transactions Signing", "CN=Test Receipts Signing",
                ])
            #expect(critical.count == 2, "once each")
            let serialNumber = try OCSPResponder.serialNumbers(of: store.transactions)[0]
            #expect(critical.contains { $0["serial_number"].string?.lowercased().hasSuffix(serialNumber) == true })
            let warnings = try lines("warning", "could not be checked for revocation", relay)
            // Any of the warnings may have it: the answers may have changed between two questions about one
            // certificate.
            #expect(warnings.contains { $0["error"].string?.contains("tryLater") == true }, "\(warnings)")
            // The certificate is released from hold.
            try await api.answerOCSP("usual")
            try await api.restore("leaf")
            try await gauge(is: 0, relay)
        }
    }

    @Test func aResponderThatIsAwayDelaysNothing() async throws {
        try await withPortOfNobody { port in
            try await run(["RELAY_APPLE_OCSP_URL": "http://127.0.0.1:\(port)"]) { setup, store, _ in
                try await isGranted(try store.purchase(email: "ana@example.test"), by: setup.relay)
                try await counts("unknown", atLeast: 2, setup.relay)
                try await isGranted(try store.purchase(email: "bea@example.test"), by: setup.relay)
                #expect(try await setup.relay.metric(Self.gauge) == 0)
                let warnings = try lines("warning", "could not be checked for revocation", setup.relay)
                #expect(warnings.first?["error"].string == "connection_failed")
            }
        }
    }

    @Test func theCheckCanBeSwitchedOff() async throws {
        try await run(["RELAY_APPLE_REVOCATION_SECONDS": "0"]) { setup, store, api in
            try await isGranted(try store.purchase(email: "ana@example.test"), by: setup.relay)
            try await Task.sleep(for: .seconds(2))
            #expect(try await api.requests().isEmpty)
            #expect(try await setup.relay.metric(Self.gauge) == nil)
        }
    }

    @Test func theSettings() throws {
        func read(_ more: [String: String]) throws -> RevocationSettings? {
            try RevocationSettings.read(SettingReader(environment: more, file: nil))
        }
        let standard = try #require(try read([:]))
        #expect(standard.interval == .seconds(3_600) && standard.url == "http://ocsp.apple.com")
        #expect(!standard.includesAddedRoots, "Apple knows nothing of their certificates")
        let own = try #require(try read(["RELAY_APPLE_OCSP_URL": "http://proxy.example/apple/"]))
        #expect(own.url == "http://proxy.example/apple" && own.includesAddedRoots)
        #expect(try read(["RELAY_APPLE_REVOCATION_SECONDS": "0"]) == nil)
        for wrong in ["0.5", "-1", "604801", "soon"] {
            #expect(throws: SettingError.self) { try read(["RELAY_APPLE_REVOCATION_SECONDS": wrong]) }
        }
        for wrong in ["ocsp.apple.com", "ftp://ocsp.apple.com", "http://ocsp.apple.com/?a"] {
            #expect(throws: SettingError.self) { try read(["RELAY_APPLE_OCSP_URL": wrong]) }
        }
    }
}
