import Foundation
import Testing

@testable import RelayClient

/// The guide's code, with StoreKit's deliveries and the relay's answers in a script.
@MainActor
@Suite("An app that is built by the guide") struct ShopTests {
    private let bought = VerificationResult.verified(Transaction(id: 1, productID: "gold"))

    private func shop(_ transport: StubTransport, _ email: String) -> Shop {
        Shop(
            relay: RelayClient(
                baseURL: URL(filePath: "/relay"), key: "key", customerToken: nil, transport: transport,
                time: ManualTime().keeper),
            email: email, offers: ["gold": "S1"], show: { _ in }, report: { _ in })
    }

    @Test("posts nothing that this customer did not ask for")
    func unasked() async {
        let transport = StubTransport([StubTransport.state("granted")])
        let shop = shop(transport, UUID().uuidString)
        await Transaction.$delivered.withValue([bought]) { await shop.resume() }
        #expect(transport.sent.isEmpty)
        await Transaction.$delivered.withValue([bought]) { try? await shop.restore() }
        #expect(transport.sent.map(\.method) == ["POST"])
    }

    @Test("posts at its next start what it could not post, and what was approved later")
    func again() async throws {
        let email = UUID().uuidString
        let away = StubTransport(Array(repeating: StubTransport.lost(), count: 20))
        for result in [Product.PurchaseResult.success(bought), .pending] {
            try await shop(away, email).buy(Product(result: result))
            let transport = StubTransport([StubTransport.state("granted"), StubTransport.state("granted")])
            let next = shop(transport, email)
            await Transaction.$delivered.withValue([bought]) { await next.resume() }
            #expect(transport.sent.map(\.method) == ["POST"])
            await Transaction.$delivered.withValue([bought]) { await next.resume() }
            #expect(transport.sent.count == 1)
        }
        let posts = away.sent.count
        try await shop(away, email).buy(Product(result: .userCancelled))
        await Transaction.$delivered.withValue([bought]) { await shop(away, email).resume() }
        #expect(posts > 1 && away.sent.count == posts)
    }

    @Test("asks by customer at its start")
    func start() async throws {
        let transport = StubTransport([StubTransport.state("granted")])
        #expect(try await shop(transport, "a@b.test").look(offer: "S1"))
        #expect(transport.sent.allSatisfy { "\($0.url)".contains("customerEmail=") })
    }
}
