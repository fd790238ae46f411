import Formats
import Foundation
import JWTKit
import RelayCore

/// A JSON Web Token (RFC 7519), split into its three parts. Nothing is verified.
struct JSONWebToken {
    /// Longer than the tokens of known identity providers, shorter than the limit of a header field.
    static let maximumBytes = 8_192

    struct Header: Decodable {
        var alg: String
        var kid: String?
    }

    struct Claims: Decodable {
        var email: String?
        var emailVerified: Bool?
        /// Seconds since 1970.
        var exp: Double?
        var nbf: Double?
        var iss: String?
        /// The claim has one value or an array.
        var aud: [String]

        enum CodingKeys: String, CodingKey {
            case email, exp, nbf, iss, aud
            case emailVerified = "email_verified"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            email = try container.decodeIfPresent(String.self, forKey: .email)
            exp = try container.decodeIfPresent(Double.self, forKey: .exp)
            nbf = try container.decodeIfPresent(Double.self, forKey: .nbf)
            iss = try container.decodeIfPresent(String.self, forKey: .iss)
            aud =
                (try? container.decodeIfPresent([String].self, forKey: .aud))
                ?? (try? container.decodeIfPresent(String.self, forKey: .aud)).map { [$0] } ?? []
            // Some providers write this boolean as text.
            emailVerified =
                (try? container.decodeIfPresent(Bool.self, forKey: .emailVerified))
                ?? (try? container.decodeIfPresent(String.self, forKey: .emailVerified)).map { $0 == "true" }
                // Present but neither type: counts as false.
                ?? (container.contains(.emailVerified) ? false : nil)
        }
    }

    let header: Header
    let signed: Data
    let signature: Data
    private let payload: Data

    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes else { return nil }
        let parts = text.parts(at: ".", maxSplits: 3)
        guard parts.count == 3, let header = Self.data(parts[0]), let payload = Self.data(parts[1]),
            let signature = Self.data(parts[2]),
            let decoded = try? JSONDecoder().decode(Header.self, from: header)
        else { return nil }
        self.header = decoded
        self.payload = payload
        self.signature = signature
        self.signed = Data(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    private static func data(_ part: Substring) -> Data? { Base64.decode(part.utf8, .urlSafe).map { Data($0) } }

    /// The claims. Read them only after the signature was verified.
    var claims: Claims? { try? JSONDecoder().decode(Claims.self, from: payload) }
}
