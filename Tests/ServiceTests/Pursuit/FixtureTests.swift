import Foundation
import Testing

/// A receipt that Apple really issued. It contains its publisher's transaction numbers, so it is not part of this
/// repository, and the test prints nothing of it.
@Suite struct FixtureTests {
    static let absent: Comment =
        "no receipt fixtures: set RELAY_FIXTURES to their folder, or put them in ../shared/fixtures/apple"

    static let folder: URL? = {
        var candidates: [URL] = []
        if let path = ProcessInfo.processInfo.environment["RELAY_FIXTURES"], !path.isEmpty {
            let named = URL(fileURLWithPath: path)
            candidates = [named.appendingPathComponent("apple"), named]
        } else {
            var root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            for _ in 0..<4 { root.deleteLastPathComponent() }
            candidates = [root.appendingPathComponent("../shared/fixtures/apple").standardizedFileURL]
        }
        return candidates.first {
            FileManager.default.fileExists(
                atPath: $0.appendingPathComponent("tikhop+TPInAppReceipt/receipt-production").path)
        }
    }()

    @Test(.enabled(if: folder != nil, absent))
    func aRealReceiptIsKnownByItsOwnOriginalTransactionAndTransferred() async throws {
        let folder = try #require(Self.folder, Self.absent).appendingPathComponent("tikhop+TPInAppReceipt")
        let receipt = try String(contentsOf: folder.appendingPathComponent("receipt-production"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let expected = try JSON(
            data: Data(contentsOf: folder.appendingPathComponent("receipt-production.expected.json")))
        let original = try #require(expected["receipt"]["originalTransactionIds"][0].string)
        let last = try #require(expected["receipt"]["latestExpiringSubscription"]["transactionId"].string)

        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            // The app's transaction id does not determine the subscription.
            var purchase = TestPurchase(email: "ana@example.test", transactionID: "1")
            purchase.transactionID = last
            purchase.receipt = receipt
            let ana = try await relay.pursue(purchase)
            _ = try await relay.becomes("granted", ana)
            let detail = try await relay.detail(ana)
            // Compared without the values, since a failure must not print them.
            let isOwn = detail["originalTransactionId"].string == original && original != last
            #expect(isOwn)
            #expect(detail["receiptReadable"].bool == true)
            let isProduction = detail["environment"].string?.lowercased() == "production"
            #expect(isProduction)

            purchase.email = "bea@example.test"
            let bea = try await relay.pursue(purchase)
            _ = try await relay.becomes("granted", bea)
            #expect(try await relay.poll(ana).json["status"].string == "transferred")
            let transfer = try await relay.detail(bea)["transfer"]
            #expect(transfer["fromValidationId"].string == ana)
            #expect(transfer["toValidationId"].string == bea)
            let owner = try await control.subscription(original)["customerEmail"].string
            #expect(owner == "bea@example.test")
            // The receipt was sent unchanged.
            let lengths = try await control.payments().map { $0.json["body"]["receipt"]["receiptData"]["length"].int }
            #expect(lengths == [receipt.utf8.count, receipt.utf8.count])
            let isLogged = relay.process.output.contains { $0.contains(receipt.prefix(60)) || $0.contains(original) }
            #expect(!isLogged)
        }
    }
}
