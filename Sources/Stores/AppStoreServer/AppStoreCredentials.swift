import Foundation
import JWTKit
import RelayCore

/// Credentials of the App Store Server API from App Store Connect: a key, its id, and the issuer id.
public struct AppStoreCredentials: Sendable {
    /// Names the invalid part; contains nothing of the key.
    public enum Fault: Error, Sendable, Equatable {
        case key, keyID, issuerID
    }

    let key: ES256PrivateKey
    let keyID: String
    let issuerID: String

    /// - Parameter key: PKCS#8 in PEM, the content of the `.p8` file.
    public init(key: String, keyID: String, issuerID: String) throws(Fault) {
        guard let key = try? ES256PrivateKey(pem: key) else { throw .key }
        guard keyID.wholeMatch(of: /[A-Za-z0-9]{1,32}/) != nil else { throw .keyID }
        guard issuerID.wholeMatch(of: /[0-9A-Fa-f-]{36}/) != nil else { throw .issuerID }
        self.key = key
        self.keyID = keyID
        self.issuerID = issuerID
    }

    private struct Claims: JWTPayload {
        let iss: IssuerClaim
        let iat: IssuedAtClaim
        let exp: ExpirationClaim
        let aud: AudienceClaim
        let bid: String

        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    /// Token for one call, valid for five minutes. Apple allows an hour.
    func token(for bundleID: BundleID, at now: Date) async throws -> String {
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: keyID))
        // Whole seconds, as in Apple's own libraries.
        let issued = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        let claims = Claims(
            iss: IssuerClaim(value: issuerID), iat: IssuedAtClaim(value: issued),
            exp: ExpirationClaim(value: issued.addingTimeInterval(300)),
            aud: AudienceClaim(value: "appstoreconnect-v1"),
            bid: bundleID.text)
        return try await keys.sign(claims, kid: JWKIdentifier(string: keyID))
    }
}
