import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Access tokens")
struct AccessTokenTests {
    @Test("never change, work on every copy, contain nothing of the key, and end with it")
    func life() async throws {
        try await withStores(2) { database, stores in
            var generator = SystemRandomNumberGenerator()
            let key = try await stores[0].keys.create(
                role: .publisher, name: "k", publisher: "main", app: "", using: &generator)
            let token = try #require(try await stores[0].keys.accessToken(for: Substring(key)))
            #expect(try await stores[1].keys.accessToken(for: Substring(key)) == token)
            #expect(!token.contains(key.suffix(64)) && token.hasPrefix("rr_token_"))
            let rings = stores.map { KeyRing(store: $0) }
            for ring in rings {
                #expect(try await ring.authenticate(accessToken: Substring(token))?.publisher == "main")
                // The token opens only routes that accept tokens, and the key is not a token.
                #expect(try await ring.authenticate(Substring(token)) == nil)
                #expect(try await ring.authenticate(accessToken: Substring(key)) == nil)
            }
            let last = token.last == "0" ? "1" : "0"
            #expect(try await rings[0].authenticate(accessToken: token.dropLast() + last) == nil)
            // The database has only a digest of the token, from which no token can be made.
            let stored = try await database.column(
                "SELECT encode(digest, 'hex') || encode(token_digest, 'hex') FROM api_keys", as: String.self)
            #expect(stored.count == 1 && !stored[0].contains(token.suffix(64)))
            let id = try #require(try await rings[0].authenticate(Substring(key))?.id)
            #expect(try await stores[0].keys.revoke(id))
            try await rings[1].load()
            #expect(try await rings[1].authenticate(accessToken: Substring(token)) == nil)
        }
    }
}
