import ArgumentParser
import CryptoExtras
import Foundation

/// Gives out access tokens for what a service account has signed (RFC 7523), and knows them again.
struct TokenOffice: Sendable {
    static let scope = "https://www.googleapis.com/auth/androidpublisher"
    static let longestLife: Double = 3_600
    /// By how much the clock of whoever signed may be ahead, in seconds.
    static let leeway: Double = 60
    private static let mostTokens = 1_000

    private let key: _RSA.Signing.PublicKey
    private let email: String
    private let keyID: String
    private let tokenURI: String
    private let tokenLife: Int
    private var tokens: [(text: String, until: Date)] = []

    init(_ file: ServiceAccountFile, tokenLife: Int) throws {
        key = try _RSA.Signing.PrivateKey(pemRepresentation: file.privateKey).publicKey
        email = file.clientEmail
        keyID = file.privateKeyId
        tokenURI = file.tokenUri
        self.tokenLife = tokenLife
    }

    init(keyFile: String, tokenLife: Int) throws {
        guard let data = FileManager.default.contents(atPath: keyFile),
            let file = try? ServiceAccountFile(json: data),
            let office = try? TokenOffice(file, tokenLife: tokenLife)
        else { throw ValidationError("\(keyFile) is no key file of a service account") }
        self = office
    }

    /// `POST /token`.
    mutating func give(_ call: StoreCall, at now: Date) -> (reply: Reply, isGood: Bool) {
        guard let body = call.body.map({ String(decoding: $0, as: UTF8.self) }),
            let fields = URLComponents(string: "?\(body.replacing("+", with: "%20"))")?.queryItems
        else { return (Self.fault("invalid_request", "no form"), false) }
        guard fields.first(where: { $0.name == "grant_type" })?.value == "urn:ietf:params:oauth:grant-type:jwt-bearer"
        else { return (Self.fault("unsupported_grant_type", "Invalid grant_type"), false) }
        guard let assertion = fields.first(where: { $0.name == "assertion" })?.value else {
            return (Self.fault("invalid_request", "Missing required parameter: assertion"), false)
        }
        if let why = objection(to: assertion, host: call.host, at: now) {
            return (Self.fault("invalid_grant", why), false)
        }
        let token = "ya29.simulated-\(UUID().uuidString)"
        tokens.removeAll { $0.until <= now }
        if tokens.count == Self.mostTokens { tokens.removeFirst() }
        tokens.append((token, now.addingTimeInterval(Double(tokenLife))))
        return (Reply(json: Given(accessToken: token, expiresIn: tokenLife)), true)
    }

    func knows(_ token: String, at now: Date) -> Bool { tokens.contains { $0.text == token && $0.until > now } }

    /// From now on none of those given out is good.
    mutating func withdrawAll() { tokens = [] }

    private func objection(to assertion: String, host: String?, at now: Date) -> String? {
        let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header: Header = Self.decoded(parts[0]),
            let claims: Claims = Self.decoded(parts[1]),
            let signature = Self.bytes(parts[2])
        else { return "Bad Request" }
        guard header.alg == "RS256", header.kid == keyID else { return "Invalid JWT Signature." }
        guard
            key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature), for: Data("\(parts[0]).\(parts[1])".utf8),
                padding: .insecurePKCS1v1_5)
        else { return "Invalid JWT Signature." }
        guard claims.iss == email else { return "Invalid issuer" }
        guard claims.aud == tokenURI || host.map({ claims.aud == "http://\($0)/token" }) ?? false else {
            return "Invalid audience"
        }
        guard claims.scope.split(separator: " ").contains(Substring(Self.scope)) else { return "Invalid scope" }
        let moment = now.timeIntervalSince1970
        guard claims.iat <= moment + Self.leeway, claims.exp > moment, claims.exp - claims.iat <= Self.longestLife
        else {
            return "Invalid JWT: Token must be a short-lived token"
        }
        return nil
    }

    private static func fault(_ code: String, _ description: String) -> Reply {
        Reply(status: 400, json: ["error": code, "error_description": description])
    }

    private static func decoded<Value: Decodable>(_ part: Substring) -> Value? {
        bytes(part).flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }

    /// base64url without padding.
    private static func bytes(_ part: Substring) -> Data? {
        let plain = part.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }

    private struct Header: Decodable {
        let alg: String
        let kid: String
    }

    private struct Claims: Decodable {
        let iss: String
        let aud: String
        let scope: String
        let iat: Double
        let exp: Double
    }

    private struct Given: Encodable {
        let accessToken: String
        let expiresIn: Int
        var tokenType = "Bearer"

        enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case expiresIn = "expires_in"
            case tokenType = "token_type"
        }
    }
}
