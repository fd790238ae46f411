import Crypto
import RelayCore

extension CompactJWS {
    /// Of its content, for one that names itself by nothing else.
    var fingerprint: String { Hex.text(of: Array(SHA256.hash(data: payload))) }
}
