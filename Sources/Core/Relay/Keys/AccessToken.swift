import Crypto
import Formats
import Foundation
import Postgres
import RelayCore

/// Access token that a client receives for its id and key through OAuth 2.0. It is the same for a key each time, and
/// valid until the key is revoked.
///
/// It is derived from the key by HMAC, so the key cannot be derived from it. The database holds only digests of both,
/// so a reader of the database can use neither.
enum AccessToken {
    private static let prefix = "rr_token_"
    private static let purpose = "receipt-relay access token"

    /// `rr_token_ID_SECRET`: the form of a key, with a role that does not exist.
    static func make(from key: Substring, id: APIKeyID) -> String {
        let secret = HMAC<SHA256>.authenticationCode(
            for: Array(purpose.utf8), using: SymmetricKey(data: Array(key.utf8)))
        return "\(prefix)\(id)_\(Hex.text(of: Array(secret)))"
    }

    static func isOne(_ text: Substring) -> Bool { text.utf8.starts(with: prefix.utf8) }
}

extension KeyStore {
    /// Returns the access token of an authenticated key.
    ///
    /// - Returns: nil if the text is not a key.
    public func accessToken(for key: Substring) async throws -> String? {
        guard let (id, _) = APIKey.parse(key) else { return nil }
        let token = AccessToken.make(from: key, id: id)
        let digest = PostgresValue.bytea(APIKey.digest(of: token))
        _ = try await database.query(
            """
            UPDATE api_keys SET token_digest = \(digest)
            WHERE id = \(.text(id)) AND revoked_at IS NULL AND token_digest IS DISTINCT FROM \(digest)
            """)
        return token
    }
}
