public import AsyncHTTPClient
import OutboundHTTP

/// Runs `test` with an HTTP client in the configuration of all clients, and shuts it down.
public func withStoreClient<Answer>(_ test: (HTTPClient) async throws -> Answer) async throws -> Answer {
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .outbound())
    do {
        let answer = try await test(client)
        try await client.shutdown()
        return answer
    } catch {
        try await client.shutdown()
        throw error
    }
}
