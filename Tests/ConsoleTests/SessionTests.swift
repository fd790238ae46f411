import HTTPTypes
import Postgres
import RelayCore
import Testing

@testable import Console
@testable import Relay

@Suite("Sessions of the console")
struct SessionTests {
    private func key(_ store: RelayStore, _ role: KeyRole = .opsOperator) async throws -> APIKey {
        var generator = SystemRandomNumberGenerator()
        let text = try await store.keys.create(
            role: role, name: "Nora", publisher: "main", app: "", using: &generator)
        return try #require(try await KeyRing(store: store).authenticate(text[...]))
    }

    private func token() -> ConsoleSession.Token {
        var generator = SystemRandomNumberGenerator()
        return ConsoleSession.Token(using: &generator)
    }

    @Test("a session lasts until it is ended or expires, or its key is revoked")
    func sessions() async throws {
        try await withStore { database, store in
            let key = try await key(store)
            let (one, other, short) = (token(), token(), token())
            for token in [one, other] { try await store.sessions.begin(token, key: key, for: .seconds(60)) }
            #expect(try await store.sessions.find(one)?.key == key)
            #expect(try await store.sessions.find(token()) == nil)
            try await store.sessions.end(one, key: key)
            #expect(try await store.sessions.find(one) == nil)
            try await store.sessions.begin(short, key: key, for: .seconds(60))
            try await database.run(
                "UPDATE console_sessions SET created_at = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE digest = $1",
                .bytea(short.digest))
            #expect(try await store.sessions.find(short) == nil)
            #expect(try await store.sessions.find(other) != nil)
            _ = try await store.keys.revoke(key.id)
            #expect(try await store.sessions.find(other) == nil)
            let actions = try await store.audit.list(matching: AuditFilter()).items.map(\.action)
            #expect(actions.sorted() == ["session.begin", "session.begin", "session.begin", "session.end"])
        }
    }

    @Test("the database has only a token's digest, and a form's token belongs to its session")
    func tokens() async throws {
        let (one, other) = (token(), token())
        #expect(one.isFormToken(one.formToken) && !one.isFormToken(other.formToken) && !one.isFormToken("x"))
        #expect(one.formToken != one.text && ConsoleSession.Token(one.text)?.digest == one.digest)
        #expect(ConsoleSession.Token("") == nil && ConsoleSession.Token(String(repeating: "g", count: 64)) == nil)
    }

    @Test("a combining mark beside a separator does not hide the cookie")
    func cookie() {
        let token = String(repeating: "ab", count: 32)
        #expect(SessionCookie.token(in: [.cookie: "x=1\u{600}; relay_session=\(token)"])?.text == token)
    }
}
