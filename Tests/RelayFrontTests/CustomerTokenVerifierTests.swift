import Foundation
import JWTKit
import NIOConcurrencyHelpers
import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("Customers' tokens")
struct CustomerTokenVerifierTests {
    private struct Claims: JWTPayload {
        var email: String? = " Ana@Example.test"
        var exp: Int? = 1_700_000_100
        var nbf: Int?
        var emailVerified: Bool?
        var iss: String?
        var aud: [String]?

        enum CodingKeys: String, CodingKey {
            case email, exp, nbf, iss, aud
            case emailVerified = "email_verified"
        }

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private static let now = Timestamp(seconds: 1_700_000_000)
    private let key = ES256PrivateKey()

    private func token(_ claims: Claims = Claims(), kid: String? = "one", by key: ES256PrivateKey? = nil) async throws
        -> String
    {
        let keys = await JWTKeyCollection().add(ecdsa: key ?? self.key)
        var header = JWTHeader()
        header.kid = kid
        return try await keys.sign(claims, header: header)
    }

    private func entry(_ key: ES256PrivateKey, kid: String = "one", extra: String = "") throws -> String {
        let parameters = try #require(key.publicKey.parameters)
        func urlSafe(_ text: String) -> String {
            text.replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
        }
        return
            #"{"kty":"EC","crv":"P-256","kid":"\#(kid)","x":"\#(urlSafe(parameters.x))","y":"\#(urlSafe(parameters.y))"\#(extra)}"#
    }

    private func set(_ entries: String...) -> String { #"{"keys":[\#(entries.joined(separator: ","))]}"# }

    @Test("a valid token names its customer, with and without alg in the set and kid in the token")
    func good() async throws {
        for extra in ["", #","alg":"ES256","use":"sig""#] {
            let verifier = try await CustomerTokenVerifier(jwks: set(try entry(key, extra: extra)))
            #expect(try await verifier.verify(token(), now: Self.now) == "ana@example.test")
            #expect(try await verifier.verify(token(kid: nil), now: Self.now) == "ana@example.test")
        }
    }

    @Test("an invalid token is refused")
    func bad() async throws {
        let verifier = try await CustomerTokenVerifier(jwks: set(try entry(key)))
        let good = try await token()
        let parts = good.split(separator: ".")
        let forged = Data(#"{"email":"eve@example.test"}"#.utf8).base64EncodedString().filter { $0 != "=" }
        let none = Data(#"{"alg":"none","kid":"one"}"#.utf8).base64EncodedString().filter { $0 != "=" }
        let bad = [
            "", "x", "a.b.c", good + "x", String(good.dropLast(4)), "\(parts[0]).\(forged).\(parts[2])",
            "\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])", String(repeating: "a", count: 9_000),
            try await token(by: ES256PrivateKey()), try await token(kid: "two"),
            try await token(Claims(exp: 1_699_999_990)), try await token(Claims(nbf: 1_700_000_060)),
            try await token(Claims(email: nil)), try await token(Claims(email: "none")),
            try await token(Claims(emailVerified: false)), try await token(Claims(exp: nil)),
        ]
        for (index, text) in bad.enumerated() {
            await #expect(throws: Problem(.invalidCustomerToken, ""), "number \(index)") {
                try await verifier.verify(text, now: Self.now)
            }
        }
    }

    @Test("issuer and audience are checked if they are set")
    func expected() async throws {
        let wanted = CustomerTokenVerifier.Expected(issuer: "https://id.example.test", audience: "app")
        let verifier = try await CustomerTokenVerifier(jwks: set(try entry(key)), expected: wanted)
        let good = Claims(iss: "https://id.example.test", aud: ["other", "app"])
        #expect(try await verifier.verify(token(good), now: Self.now) == "ana@example.test")
        for bad in [
            Claims(), Claims(iss: "https://id.example.test"), Claims(aud: ["app"]),
            Claims(iss: "https://id.example.test/", aud: ["app"]), Claims(iss: "https://id.example.test", aud: ["ap"]),
        ] {
            await #expect(throws: Problem(.invalidCustomerToken, "")) {
                try await verifier.verify(token(bad), now: Self.now)
            }
        }
    }

    @Test("keys of unknown kinds and for encryption are skipped; a set without any other is an error")
    func lenient() async throws {
        let strange = #"{"kty":"oct","k":"AAAA","kid":"s"}"#
        let encryption = try entry(ES256PrivateKey(), kid: "e", extra: #","use":"enc""#)
        let verifier = try await CustomerTokenVerifier(jwks: set(strange, encryption, try entry(key)))
        #expect(try await verifier.verify(token(), now: Self.now) == "ana@example.test")
        await #expect(throws: KeySetError.noUsableKey) {
            _ = try await CustomerTokenVerifier(jwks: set(strange, encryption))
        }
        await #expect(throws: KeySetError.malformedKeySet) { _ = try await CustomerTokenVerifier(jwks: "{}") }
    }

    @Test("an unknown key causes one fetch of the set, and no other for a while")
    func refresh() async throws {
        let fetched = NIOLockedValueBox(0)
        let newer = ES256PrivateKey()
        let json = set(try entry(key), try entry(newer, kid: "two"))
        let verifier = try await CustomerTokenVerifier(jwks: nil) {
            fetched.withLockedValue { $0 += 1 }
            return json
        }
        #expect(try await verifier.verify(token(), now: Self.now) == "ana@example.test")
        #expect(try await verifier.verify(token(kid: "two", by: newer), now: Self.now) == "ana@example.test")
        for _ in 0..<3 {
            await #expect(throws: Problem(.invalidCustomerToken, "")) {
                try await verifier.verify(token(kid: "three", by: newer), now: Self.now)
            }
        }
        #expect(fetched.withLockedValue { $0 } == 1)
    }

    /// A clock and a key set that the test controls.
    private final class Issuer: Sendable {
        struct Away: Error {}
        private let start = ContinuousClock.now
        private let state: NIOLockedValueBox<(json: String?, passed: Duration, fetches: Int)>

        init(_ json: String) { state = NIOLockedValueBox((json, .zero, 0)) }

        var fetches: Int { state.withLockedValue { $0.fetches } }
        func publish(_ json: String?) { state.withLockedValue { $0.json = json } }
        func letPass(_ time: Duration) { state.withLockedValue { $0.passed += time } }
        func now() -> ContinuousClock.Instant { start + state.withLockedValue { $0.passed } }

        func fetch() throws -> String {
            try state.withLockedValue { state in
                state.fetches += 1
                guard let json = state.json else { throw Away() }
                return json
            }
        }
    }

    @Test(
        "a set that cannot be fetched is trusted for its maximum age; then no token is called invalid"
    )
    func tooOld() async throws {
        let issuer = Issuer(set(try entry(key)))
        let verifier = try await CustomerTokenVerifier(
            jwks: nil, maximumAge: .seconds(3_600), refresh: issuer.fetch, now: issuer.now)
        let good = try await token()
        #expect(try await verifier.verify(good, now: Self.now) == "ana@example.test")
        issuer.publish(nil)
        issuer.letPass(.seconds(3_599))
        #expect(try await verifier.verify(good, now: Self.now) == "ana@example.test")
        issuer.letPass(.seconds(1))
        for _ in 0..<2 {
            await #expect(throws: Problem(.customerKeysUnavailable, "")) {
                try await verifier.verify(good, now: Self.now)
            }
        }
        // The next set replaces the withdrawn key and counts at once.
        let newer = ES256PrivateKey()
        issuer.publish(set(try entry(newer, kid: "two")))
        issuer.letPass(.seconds(1))
        #expect(try await verifier.verify(token(kid: "two", by: newer), now: Self.now) == "ana@example.test")
        await #expect(throws: Problem(.invalidCustomerToken, "")) { try await verifier.verify(good, now: Self.now) }
    }

    @Test(
        "a failed fetch is repeated soon, and until then an unknown key is neither valid nor invalid"
    )
    func failedRefresh() async throws {
        let issuer = Issuer(set(try entry(key)))
        let verifier = try await CustomerTokenVerifier(
            jwks: nil, maximumAge: .seconds(3_600), refresh: issuer.fetch, now: issuer.now)
        #expect(try await verifier.verify(token(), now: Self.now) == "ana@example.test")
        issuer.publish(nil)
        issuer.letPass(.seconds(60))
        let newer = ES256PrivateKey()
        let unknown = try await token(kid: "two", by: newer)
        await #expect(throws: Problem(.customerKeysUnavailable, "")) {
            try await verifier.verify(unknown, now: Self.now)
        }
        #expect(issuer.fetches == 2)
        issuer.publish(set(try entry(key), try entry(newer, kid: "two")))
        issuer.letPass(.seconds(30))
        #expect(try await verifier.verify(unknown, now: Self.now) == "ana@example.test")
        #expect(issuer.fetches == 3)
    }

    @Test("a verified token is accepted from the cache until it expires")
    func cached() async throws {
        let verifier = try await CustomerTokenVerifier(jwks: set(try entry(key)))
        let text = try await token(Claims(nbf: 1_699_999_990))
        #expect(verifier.verified(text, now: Self.now) == nil)
        #expect(try await verifier.verify(text, now: Self.now) == "ana@example.test")
        #expect(verifier.verified(text, now: Self.now) == "ana@example.test")
        for bad in [text + "x", String(text.dropLast()), "", try await token(by: ES256PrivateKey())] {
            #expect(verifier.verified(bad, now: Self.now) == nil)
        }
        for seconds in [1_700_000_105, 1_699_999_984] {
            let now = Timestamp(seconds: Int64(seconds))
            #expect(verifier.verified(text, now: now) == nil)
            await #expect(throws: Problem(.invalidCustomerToken, ""), "at \(seconds)") {
                try await verifier.verify(text, now: now)
            }
        }
        #expect(verifier.verified(text, now: Timestamp(seconds: 1_700_000_104)) == "ana@example.test")
        // An invalid token never enters the cache.
        let noEmail = try await token(Claims(email: nil))
        await #expect(throws: Problem(.invalidCustomerToken, "")) {
            try await verifier.verify(noEmail, now: Self.now)
        }
        #expect(verifier.verified(noEmail, now: Self.now) == nil)
    }

    @Test("cached tokens refresh the set, and a withdrawn key then verifies none")
    func withdrawn() async throws {
        let issuer = Issuer(set(try entry(key)))
        let verifier = try await CustomerTokenVerifier(
            jwks: nil, maximumAge: .seconds(3_600), refresh: issuer.fetch, now: issuer.now)
        let text = try await token()
        #expect(try await verifier.verify(text, now: Self.now) == "ana@example.test")
        issuer.publish(set(try entry(ES256PrivateKey(), kid: "two")))
        issuer.letPass(.seconds(599))
        #expect(verifier.verified(text, now: Self.now) == "ana@example.test")
        #expect(issuer.fetches == 1)
        issuer.letPass(.seconds(1))
        while verifier.verified(text, now: Self.now) != nil { await Task.yield() }
        #expect(issuer.fetches == 2)
        await #expect(throws: Problem(.invalidCustomerToken, "")) { try await verifier.verify(text, now: Self.now) }
        #expect(verifier.verified(text, now: Self.now) == nil)
    }

    @Test("a cached token is not accepted with a set that is too old")
    func knownByAnOldSet() async throws {
        let issuer = Issuer(set(try entry(key)))
        let verifier = try await CustomerTokenVerifier(
            jwks: nil, maximumAge: .seconds(3_600), refresh: issuer.fetch, now: issuer.now)
        let text = try await token()
        #expect(try await verifier.verify(text, now: Self.now) == "ana@example.test")
        issuer.publish(nil)
        issuer.letPass(.seconds(3_600))
        #expect(verifier.verified(text, now: Self.now) == nil)
    }

    @Test("the cache keeps the tokens used last, up to its capacity")
    func bounded() {
        var tokens = VerifiedTokens(capacity: 100)
        let entry = VerifiedTokens.Entry(customer: "ana@example.test", end: 1)
        let used = VerifiedTokens.digest(of: "used")
        tokens.remember(used, entry)
        for number in 0..<1_000 {
            tokens.remember(VerifiedTokens.digest(of: "\(number)"), entry)
            #expect(tokens.find(used) != nil && tokens.count <= 100)
        }
        #expect(tokens.find(VerifiedTokens.digest(of: "999")) != nil)
        #expect(tokens.find(VerifiedTokens.digest(of: "0")) == nil)
    }

    @Test("a set from a file has no age")
    func given() async throws {
        let issuer = Issuer("")
        let verifier = try await CustomerTokenVerifier(jwks: set(try entry(key)), refresh: nil, now: issuer.now)
        issuer.letPass(.seconds(86_400))
        #expect(try await verifier.verify(token(), now: Self.now) == "ana@example.test")
    }

    @Test("before the first set, no token is called invalid")
    func unavailable() async throws {
        struct Away: Error {}
        let verifier = try await CustomerTokenVerifier(jwks: nil) { throw Away() }
        await #expect(throws: Problem(.customerKeysUnavailable, "")) {
            try await verifier.verify(token(), now: Self.now)
        }
    }
}

extension CustomerTokenVerifier {
    fileprivate convenience init(
        jwks: String?, expected: Expected = Expected(), maximumAge: Duration = SigningKeys.maximumAge,
        refresh: (@Sendable () async throws -> String)? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) async throws {
        self.init(
            keys: try await SigningKeys(jwks: jwks, maximumAge: maximumAge, refresh: refresh, now: now),
            expected: expected)
    }
}
