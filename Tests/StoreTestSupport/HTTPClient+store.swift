public import AsyncHTTPClient
import StoreAPI

/// Runs `test` with an HTTP client made as stores want it, and shuts it down.
public func withStoreClient<Answer>(_ test: (HTTPClient) async throws -> Answer) async throws -> Answer {
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .store)
    do {
        let answer = try await test(client)
        try await client.shutdown()
        return answer
    } catch {
        try await client.shutdown()
        throw error
    }
}
