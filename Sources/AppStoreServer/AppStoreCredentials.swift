import Foundation
import JWTKit
import RelayCore

/// What App Store Connect gives out for the App Store Server API: a key, its id, and the id of who it was given to.
public struct AppStoreCredentials: Sendable {
    /// Names what is wrong, and nothing of the key.
    public enum Fault: Error, Sendable, Equatable {
        case key, keyID, issuerID
    }

    let key: ES256PrivateKey
    let keyID: String
    let issuerID: String

    /// - Parameter key: PKCS#8 in PEM, as the `.p8` file has it.
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

    /// For one call: five minutes, of the hour that Apple allows.
    func token(for bundleID: BundleID, at now: Date) async throws -> String {
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: keyID))
        // Whole seconds, as Apple's own programs write them.
        let issued = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        let claims = Claims(
            iss: IssuerClaim(value: issuerID), iat: IssuedAtClaim(value: issued),
            exp: ExpirationClaim(value: issued.addingTimeInterval(300)),
            aud: AudienceClaim(value: "appstoreconnect-v1"),
            bid: bundleID.text)
        return try await keys.sign(claims, kid: JWKIdentifier(string: keyID))
    }
}
