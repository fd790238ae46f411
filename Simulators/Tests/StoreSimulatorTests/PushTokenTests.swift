import CryptoExtras
import Foundation
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

@Suite struct PushTokenTests {
    private let now = TestAccount.now

    private struct Parts {
        let header: [String: Any]
        let claims: [String: Any]
        let isSigned: Bool

        /// - Parameter keys: the key set.
        init(_ authorization: String, by keys: Data) throws {
            let token = try #require(authorization.split(separator: " ").last.map(String.init))
            #expect(authorization == "Bearer \(token)")
            let jws = try #require(UnverifiedJWS(token))
            header = try #require(try JSONSerialization.jsonObject(with: jws.header) as? [String: Any])
            claims = try #require(try JSONSerialization.jsonObject(with: jws.payload) as? [String: Any])
            isSigned = try VerificationKey(keys, id: header["kid"] as? String).verifies(jws)
        }
    }

    private func parts(_ forgery: PushTokenForgery? = nil) throws -> Parts {
        let key = TestAccount.pushKey
        let settings = try PushSettings(url: "http://relay/push", email: "push@example.test")
        let text = try #require(try PushToken.authorization(settings, key, forgery, at: now))
        return try Parts(text, by: JSONBody.encode(key.set()))
    }

    @Test func itIsSignedByTheKeyOfTheSetAndHasGooglesClaims() throws {
        let parts = try parts()
        #expect(parts.isSigned)
        #expect(parts.header["alg"] as? String == "RS256" && parts.header["typ"] as? String == "JWT")
        let claims = parts.claims
        #expect(claims["aud"] as? String == "http://relay/push", "the address where no audience is configured")
        #expect(claims["email"] as? String == "push@example.test" && claims["email_verified"] as? Bool == true)
        #expect(claims["iss"] as? String == "https://accounts.google.com")
        #expect(claims["iat"] as? Int == 1_790_000_000 && claims["exp"] as? Int == 1_790_003_600)
        #expect(claims["sub"] as? String == claims["azp"] as? String && claims["sub"] is String)
    }

    @Test(arguments: [PushTokenForgery.audience, .issuer, .email, .unverified, .expired])
    func aPushTokenForgeryIsWrongInOneThing(_ forgery: PushTokenForgery) throws {
        let (good, bad) = (try parts(), try parts(forgery))
        #expect(bad.isSigned)
        let names = Set(good.claims.keys).union(bad.claims.keys)
        let differing = names.filter { "\(good.claims[$0] ?? "")" != "\(bad.claims[$0] ?? "")" }
        let expected: Set<String> =
            switch forgery {
            case .audience: ["aud"]
            case .issuer: ["iss"]
            case .email: ["email"]
            case .unverified: ["email_verified"]
            default: ["iat", "exp"]
            }
        #expect(differing == expected)
        if forgery == .expired { #expect(bad.claims["exp"] as? Int == 1_789_996_400) }
    }

    @Test func withoutAProperSignatureEverythingElseIsAsItShouldBe() throws {
        let good = try parts()
        for forgery in [PushTokenForgery.signature, .algorithm] {
            let bad = try parts(forgery)
            #expect(!bad.isSigned && bad.header["kid"] as? String == good.header["kid"] as? String)
            #expect(NSDictionary(dictionary: bad.claims) == NSDictionary(dictionary: good.claims))
            #expect(bad.header["alg"] as? String == (forgery == .signature ? "RS256" : "none"))
        }
        let key = TestAccount.pushKey
        #expect(try PushToken.authorization(PushSettings(url: "http://relay/push"), key, .missing, at: now) == nil)
    }

    @Test func aNewKeyReplacesTheOldInTheSet() throws {
        let bench = try GoogleBench.pushing()
        func set() -> Data {
            let call = Call(method: "GET", path: "/oauth2/v3/certs", body: Data(), startedAt: now)
            guard case .answer(let reply) = bench.front.begin(call, at: now).ending else { return Data() }
            return reply.body ?? Data()
        }
        let before = set()
        let made = try bench.control("POST", "keys").json["kid"] as? String
        let after = set()
        #expect(try VerificationKey.ids(before) == [TestAccount.pushKey.id])
        #expect(try VerificationKey.ids(after) == [try #require(made)])
        try bench.control("POST", "notifications", #"{"notification":{"testNotification":{}}}"#)
        #expect(bench.attempts().map(\.key.id) == [made], "what is sent from now on is signed by it")
    }
}

/// A key of a key set, as a client reads it.
struct VerificationKey {
    private let key: _RSA.Signing.PublicKey

    private struct Keys: Decodable {
        struct Key: Decodable {
            let kty: String
            let alg: String
            let use: String
            let kid: String
            let n: String
            let e: String
        }
        let keys: [Key]
    }

    static func ids(_ set: Data) throws -> [String] {
        try JSONDecoder().decode(Keys.self, from: set).keys.map(\.kid)
    }

    init(_ set: Data, id: String?) throws {
        let keys = try JSONDecoder().decode(Keys.self, from: set).keys
        let found = try #require(keys.first { $0.kid == id }, "no key has the id \(id ?? "")")
        #expect(keys.count == 1 && found.kty == "RSA" && found.alg == "RS256" && found.use == "sig")
        key = try _RSA.Signing.PublicKey(n: Self.bytes(found.n), e: Self.bytes(found.e))
        #expect(key.keySizeInBits == 2_048)
    }

    private static func bytes(_ text: String) throws -> Data {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return try #require(Data(base64Encoded: standard + padding))
    }

    func verifies(_ jws: UnverifiedJWS) -> Bool {
        key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: jws.signature), for: jws.signedText,
            padding: .insecurePKCS1v1_5)
    }
}
