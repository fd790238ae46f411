import CryptoExtras
import Foundation
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

@Suite struct TokenIssuerTests {
    private static let file = TestAccount.file
    private let now = TestAccount.now

    private func assertion(
        header: [String: Any] = [:], claims: [String: Any] = [:], key: _RSA.Signing.PrivateKey? = nil
    ) throws -> String {
        try TestAccount.assertion(header: header, claims: claims, key: key)
    }

    private func call(_ body: String, host: String? = nil) -> Call {
        Call(method: "POST", path: "/token", host: host, body: Data(body.utf8), startedAt: now)
    }

    private let grant = TestAccount.grant

    @Test func whatTheAccountSignedIsGivenATokenThatIsKnownUntilItsEnd() throws {
        var issuer = try TokenIssuer(#require(Self.file), tokenLife: 100)
        let (reply, isGood) = issuer.issue(call("\(grant)&assertion=\(try assertion())"), at: now)
        #expect(isGood && reply.status == 200)
        let fields = try #require(try JSONSerialization.jsonObject(with: reply.body ?? Data()) as? [String: Any])
        #expect(fields["expires_in"] as? Int == 100 && fields["token_type"] as? String == "Bearer")
        let token = try #require(fields["access_token"] as? String)
        #expect(issuer.accepts(token, at: now.addingTimeInterval(99)))
        #expect(!issuer.accepts(token, at: now.addingTimeInterval(100)))
        issuer.revokeAll()
        #expect(!issuer.accepts(token, at: now))
    }

    @Test func whatIsWrongGetsNone() throws {
        let other = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let wrong: [(String, String)] = [
            ("a foreign key", try assertion(key: other)), ("no signature", try assertion(header: ["alg": "none"])),
            ("another key's id", try assertion(header: ["kid": "x"])),
            ("another account", try assertion(claims: ["iss": "x@example.test"])),
            ("another audience", try assertion(claims: ["aud": "https://example.test/token"])),
            ("another scope", try assertion(claims: ["scope": "email"])),
            ("run out", try assertion(claims: ["exp": 1_789_999_999])),
            ("to come", try assertion(claims: ["iat": 1_790_000_100])),
            ("too long", try assertion(claims: ["exp": 1_790_003_601])), ("no JWT", "a.b"), ("nothing", "a.b.c"),
        ]
        var issuer = try TokenIssuer(#require(Self.file), tokenLife: 100)
        for (name, text) in wrong {
            let (reply, isGood) = issuer.issue(call("\(grant)&assertion=\(text)"), at: now)
            #expect(!isGood && reply.status == 400, "\(name)")
            #expect(String(decoding: reply.body ?? Data(), as: UTF8.self).contains("invalid_grant"), "\(name)")
        }
        let good = try assertion()
        let parts = good.split(separator: ".")
        let forged = "\(parts[0]).\(parts[1]).\(parts[2].first == "A" ? "B" : "A")\(parts[2].dropFirst())"
        #expect(!issuer.issue(call("\(grant)&assertion=\(forged)"), at: now).isGood)
        #expect(!issuer.issue(call("grant_type=password&assertion=\(good)"), at: now).isGood)
        #expect(!issuer.issue(call(grant), at: now).isGood)
    }

    @Test func whereItIsAskedIsAnAudienceToo() throws {
        var issuer = try TokenIssuer(#require(Self.file), tokenLife: 100)
        let text = try assertion(claims: ["aud": "http://store:9000/token"])
        #expect(issuer.issue(call("\(grant)&assertion=\(text)", host: "store:9000"), at: now).isGood)
        #expect(!issuer.issue(call("\(grant)&assertion=\(text)", host: "store:9001"), at: now).isGood)
    }
}
