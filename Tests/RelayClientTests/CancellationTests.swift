import Foundation
import Testing

@testable import RelayClient

@Suite("Cancellation") struct CancellationTests {
    /// Answers with a pending purchase; polls never end by themselves.
    private struct HeldForEver: RelayTransport {
        func send(_ request: RelayRequest) async throws -> RelayAnswer {
            if request.method == "POST" { return try StubTransport.state("pending")() }
            do {
                try await Task.sleep(for: .seconds(600))
            } catch {
                // URLSession's error on cancellation.
                throw URLError(.cancelled)
            }
            return RelayAnswer(status: 200)
        }
    }

    @Test("ends a wait at once, and is not reported as an error")
    func wait() async throws {
        let client = RelayClient(
            baseURL: try #require(URL(string: "https://relay.test")), key: "k", transport: HeldForEver())
        let purchase = Purchase(email: "a@b.test", offer: "O", proof: .amazon(receiptID: "r", userID: "u"))
        let (told, teller) = AsyncStream.makeStream(of: Void.self)
        let waiting = Task { try await client.redeem(purchase) { _ in teller.yield() } }
        for await _ in told { break }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("of a single request is no lost connection")
    func single() async throws {
        let client = RelayClient(
            baseURL: try #require(URL(string: "https://relay.test")), key: "k", transport: HeldForEver())
        let asking = Task { try await client.status(of: "db51") }
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
    }

    @Test("of a task that waits to post again, too")
    func pause() async throws {
        let transport = StubTransport((0..<100).map { _ in StubTransport.lost() })
        let client = RelayClient(
            baseURL: try #require(URL(string: "https://relay.test")), key: "k", transport: transport)
        let purchase = Purchase(email: "a@b.test", offer: "O", proof: .amazon(receiptID: "r", userID: "u"))
        let posting = Task { try await client.submit(purchase) }
        while transport.sent.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        posting.cancel()
        await #expect(throws: CancellationError.self) { try await posting.value }
        #expect(transport.sent.count < 100)
    }
}
