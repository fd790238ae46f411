import Crypto
import Foundation
import Postgres
import RelayCore

/// What a client gets for its id and key by OAuth 2.0: the same for ever for one key, and as good as the key until that is revoked.
///
/// It follows from the key by HMAC, and the key does not follow from it. As of the key itself the database holds only a digest: who
/// reads the database has neither.
enum AccessToken {
    private static let prefix = "rr_token_"
    private static let purpose = "receipt-relay access token"

    /// `rr_token_ID_SECRET`, in the form of a key of a role that there is not.
    static func make(from key: Substring, id: APIKeyID) -> String {
        let secret = HMAC<SHA256>.authenticationCode(
            for: Array(purpose.utf8), using: SymmetricKey(data: Array(key.utf8)))
        return "\(prefix)\(id)_\(Hex.text(of: Array(secret)))"
    }

    static func isOne(_ text: Substring) -> Bool { text.utf8.starts(with: prefix.utf8) }
}

extension KeyStore {
    /// The access token of a key that was authenticated.
    ///
    /// - Returns: nil for what is no key.
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
