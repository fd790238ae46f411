import ArgumentParser
import CryptoExtras
import Foundation
import SimulatorKit

/// Issues access tokens for a service account's signed assertions (RFC 7523), and verifies the tokens.
struct TokenIssuer: Sendable {
    static let scope = "https://www.googleapis.com/auth/androidpublisher"
    static let longestLife: Double = 3_600
    /// Seconds by which the signer's clock may be ahead.
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
            let issuer = try? TokenIssuer(file, tokenLife: tokenLife)
        else { throw ValidationError("\(keyFile) is no key file of a service account") }
        self = issuer
    }

    /// `POST /token`.
    mutating func issue(_ call: Call, at now: Date) -> (reply: Reply, isGood: Bool) {
        guard let body = call.body else { return (Self.fault("invalid_request", "no form"), false) }
        let fields = FormItems(String(decoding: body, as: UTF8.self))
        guard fields["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
            return (Self.fault("unsupported_grant_type", "Invalid grant_type"), false)
        }
        guard let assertion = fields["assertion"] else {
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

    func accepts(_ token: String, at now: Date) -> Bool { tokens.contains { $0.text == token && $0.until > now } }

    /// Makes all issued tokens invalid.
    mutating func revokeAll() { tokens = [] }

    private func objection(to assertion: String, host: String?, at now: Date) -> String? {
        guard let jws = UnverifiedJWS(assertion), let header: Header = try? JSONBody.decode(from: jws.header),
            let claims: Claims = try? JSONBody.decode(from: jws.payload)
        else { return "Bad Request" }
        guard header.alg == "RS256", header.kid == keyID else { return "Invalid JWT Signature." }
        guard
            key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: jws.signature), for: jws.signedText,
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

/// The key file of a service account, with the fields that Google Cloud writes (in snake case).
struct ServiceAccountFile: Sendable, Codable {
    var type = "service_account"
    var projectId: String
    var privateKeyId: String
    var privateKey: String
    var clientEmail: String
    var clientId: String
    var tokenUri: String

    static func made(tokenURI: String) throws -> ServiceAccountFile {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let number = UInt64.random(in: 1...999_999_999)
        return ServiceAccountFile(
            projectId: "simulated", privateKeyId: UUID().uuidString.lowercased().filter { $0 != "-" },
            privateKey: key.pkcs8PEMRepresentation + "\n",
            clientEmail: "relay-\(number)@simulated.iam.gserviceaccount.com", clientId: String(number),
            tokenUri: tokenURI)
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

extension ServiceAccountFile {
    init(json: Data) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(ServiceAccountFile.self, from: json)
    }
}
