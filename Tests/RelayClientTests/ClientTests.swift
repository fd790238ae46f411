import Foundation
import Testing

@testable import RelayClient

@Suite("The client with a scripted transport") struct ClientTests {
    private let time = ManualTime()
    private let purchase = Purchase(
        email: "ana+a@example.test", offer: "S1_US", proof: .appReceipt(Data([1, 2, 3]), transactionID: "2000"))

    private func client(
        _ transport: StubTransport, token: RelayClient.CustomerToken? = nil, url: String = "https://relay.test/in/"
    ) throws -> RelayClient {
        RelayClient(
            baseURL: try #require(URL(string: url)), key: "k1", customerToken: token, transport: transport,
            time: time.keeper)
    }

    @Test("every try is the same request with the same Idempotency-Key")
    func sameRequest() async throws {
        let transport = StubTransport([
            StubTransport.lost(), StubTransport.problem(503, "database_unavailable", retryAfter: 2),
            StubTransport.lost(.timedOut), StubTransport.state("pending"),
        ])
        let taken = try await client(transport).submit(purchase)
        #expect(taken.status == .pending)
        #expect(transport.sent.count == 4)
        #expect(Set(transport.sent).count == 1)
        let sent = try #require(transport.sent.first)
        #expect(sent.method == "POST")
        #expect(sent.url.absoluteString == "https://relay.test/in/apple/payment")
        #expect(sent.headers["Authorization"] == "Bearer k1")
        #expect(sent.headers["Content-Type"] == "application/json")
        #expect(sent.headers["Idempotency-Key"]?.wholeMatch(of: /"[0-9a-f-]{36}"/) != nil)
        #expect(time.pauses.count == 3)
        #expect(time.pauses[1] == .seconds(2))
    }

    @Test("each submit has its own key")
    func freshKey() async throws {
        let transport = StubTransport([StubTransport.state("pending"), StubTransport.state("pending")])
        let client = try client(transport)
        _ = try await client.submit(purchase)
        _ = try await client.submit(purchase)
        #expect(Set(transport.sent.map { $0.headers["Idempotency-Key"] }).count == 2)
    }

    @Test("a purchase is never lost silently")
    func neverSilently() async throws {
        let transport = StubTransport([StubTransport.lost(), StubTransport.problem(401, "unknown_key")])
        let error = await #expect(throws: RelayError.self) { try await client(transport).submit(purchase) }
        #expect(error?.code == .unknownKey)
        #expect(error?.mayHaveBeenTaken == true)
        let refused = StubTransport([StubTransport.problem(422, "invalid_fields")])
        let second = await #expect(throws: RelayError.self) { try await client(refused).submit(purchase) }
        #expect(second?.mayHaveBeenTaken == false)
    }

    @Test("from the purchase to the outcome, through lost connections")
    func redeem() async throws {
        let transport = StubTransport([
            StubTransport.state("pending"), StubTransport.lost(), StubTransport.problem(500, "internal"),
            StubTransport.state("pending"), StubTransport.state("granted", #","expiresAt":"2026-12-21T02:38:36.000Z""#),
        ])
        var states: [RelayClient.Validation.Status] = []
        let outcome = try await client(transport).redeem(purchase) { states.append($0.status) }
        #expect(outcome == .granted(until: Date(timeIntervalSince1970: 1_797_820_716), late: false))
        #expect(states == [.pending, .granted])
        #expect(transport.sent[1].url.absoluteString == "https://relay.test/in/entitlements/db512a")
        #expect(transport.sent[1].headers["Prefer"] == "wait=25")
        #expect(transport.sent[1].timeout > .seconds(30))
    }

    @Test("silence beyond the relay's time counts as a failure; a refusal does not")
    func silence() async throws {
        let silent = StubTransport([StubTransport.state("pending")] + (0..<200).map { _ in StubTransport.lost() })
        #expect(try await client(silent).redeem(purchase) == .assumeFailed)
        let revoked = StubTransport([StubTransport.state("pending"), StubTransport.problem(401, "unknown_key")])
        let error = await #expect(throws: RelayError.self) { try await client(revoked).redeem(purchase) }
        #expect(error?.mayHaveBeenTaken == true)
    }

    @Test("the customer's token is asked for before every request")
    func token() async throws {
        let transport = StubTransport([
            StubTransport.lost(), StubTransport.state("pending"), StubTransport.state("rejected"),
        ])
        let counter = ManualTime()
        let client = try client(transport) {
            counter.pass(.seconds(1))
            return "jwt"
        }
        _ = try await client.redeem(purchase)
        #expect(transport.sent.allSatisfy { $0.headers["X-Customer-Token"] == "jwt" })

        struct SignedOut: Error {}
        let without = try self.client(StubTransport([])) { throw SignedOut() }
        let error = await #expect(throws: RelayError.self) { try await without.submit(purchase) }
        #expect(error?.code == .noCustomerToken)
    }

    @Test("a token that needs the network is waited for")
    func tokenWithoutNetwork() async throws {
        let transport = StubTransport([StubTransport.state("pending")])
        let tries = ManualTime()
        let client = try client(transport) {
            try await tries.keeper.sleep(.seconds(1))
            guard tries.pauses.count > 2 else { throw URLError(.notConnectedToInternet) }
            return "jwt"
        }
        #expect(try await client.submit(purchase).status == .pending)
        #expect(time.pauses.count == 2)
        #expect(transport.sent.count == 1)
    }

    @Test("an email in a query keeps its plus sign")
    func query() async throws {
        let transport = StubTransport([
            StubTransport.json(200, #"{"status":"unknown","accessGranted":false}"#), StubTransport.state("granted"),
        ])
        let client = try client(transport, url: "https://relay.test")
        #expect(try await client.entitlement(email: "ana+a@example.test", offer: "S1_US") == nil)
        #expect(try await client.entitlement(email: "ana+a@example.test", offer: "S1_US")?.accessGranted == true)
        #expect(
            transport.sent[0].url.absoluteString
                == "https://relay.test/entitlements?customerEmail=ana%2Ba%40example.test&offerId=S1_US")
    }

    @Test("a page from an intermediary is no answer")
    func portal() async throws {
        let transport = StubTransport([StubTransport.json(200, "<html>"), StubTransport.state("pending")])
        #expect(try await client(transport).submit(purchase).status == .pending)
        let other = StubTransport([StubTransport.json(200, "{}")])
        let error = await #expect(throws: RelayError.self) { try await client(other).status(of: "../x") }
        #expect(error?.code == .notUnderstood)
        #expect(other.sent[0].url.absoluteString == "https://relay.test/in/entitlements/..%2Fx")
    }
}
