import Foundation
import Testing

/// Publishers that sell by tag: `RELAY_CLEENG_ENTITLEMENT_SOURCE=accessible-tags`.
@Suite struct TagsTests {
    private static let source = [
        "RELAY_CLEENG_ENTITLEMENT_SOURCE": "accessible-tags", "RELAY_VALIDATION_TIMEOUT_SECONDS": "300",
    ]

    @Test func withoutAFileTheTagIsTheOffer() async throws {
        try await Setup.run(settings: Self.source) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            let id = try await relay.pursue("ana+after-1s@example.test")
            let held = try await relay.pursue("eva+entitled@example.test")
            #expect(try await relay.becomes("granted", id)["expiresAt"].isNull)
            let detail = try await relay.detail(id)
            #expect(detail["entitledBefore"].bool == false)
            #expect(detail["evidence"]["source"].string == "accessible-tags")
            #expect(detail["evidence"]["tags"].array?.map(\.string) == ["S123456789_US"])
            _ = try await relay.becomes("granted", held)
            #expect(try await relay.detail(held)["entitledBefore"].bool == true)
            #expect(try await control.reads(of: "ana+after-1s@example.test").isEmpty)

            let failing = try await relay.pursue("fia+read-500-3@example.test")
            _ = try await relay.becomes("granted", failing)
        }
    }

    @Test func withAFileAllTagsOfTheOfferAreAsked() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("tags-\(UUID().uuidString).json")
        try Data(#"{"S123456789_US":["sport","live"]}"#.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let settings = Self.source.merging(["RELAY_CLEENG_TAGS_FILE": file.path]) { $1 }
        try await Setup.run(settings: settings) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            try await control.tags(of: "S123456789_US", ["sport"])
            let id = try await relay.pursue("ana@example.test")
            try await Awaiting.fact("it was read, and one tag of two was not enough") {
                try await relay.timeline(id, "entitlement_read").count
            } holds: {
                $0 >= 2
            }
            #expect(try await relay.poll(id).json["status"].string == "pending")
            try await control.tags(of: "S123456789_US", ["live", "news", "sport"])
            _ = try await relay.becomes("granted", id)
            #expect(try await relay.detail(id)["evidence"]["tags"].array?.map(\.string) == ["sport", "live"])
        }
    }

    /// Guards against access without end: neither tags nor an unreadable receipt state one. Cleeng is asked after each
    /// leeway, and access ends with the tag.
    @Test func aTagWithoutAnEndIsReadAgain() async throws {
        let settings = Self.source.merging(["RELAY_APPLE_RENEWAL_LEEWAY_SECONDS": "1"]) { $1 }
        try await Setup.run(settings: settings) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            var purchase = TestPurchase(email: "ana@example.test")
            purchase.receipt = "bm90IGEgcmVjZWlwdA=="
            let id = try await relay.pursue(purchase)
            #expect(try await relay.becomes("granted", id)["expiresAt"].isNull)
            func asked() async throws -> Int { try await setup.simulator.requests(path: "/3.0/json-rpc").count }
            let before = try await asked()
            try await Awaiting.fact("Cleeng is asked, and asked again") {
                try await asked()
            } holds: {
                $0 >= before + 2
            }
            #expect(try await relay.poll(id).json["status"].string == "granted")
            try await control.entitle("ana@example.test", to: purchase.offer, status: "terminated")
            let ended = try await relay.becomes("revoked", id)
            #expect(ended["reason"].string == "expired" && ended["accessGranted"].bool == false)
        }
    }
}
