import Crypto
import RelayCore

/// Customer tokens that the present key set has verified. Verifying a signature costs about 100 µs, a look-up here
/// about one.
///
/// Two generations bound it. When the younger one is full, it becomes the older one, whose unused tokens are dropped.
/// An entry is a digest, an email of at most 254 bytes and two times.
struct VerifiedTokens: Sendable {
    struct Entry: Sendable {
        var customer: CustomerID
        /// Seconds since 1970.
        var end: Double
        var begin: Double?
    }

    /// Digest of a token. The token itself is a credential and is not kept.
    typealias Digest = SHA256.Digest

    private let capacity: Int
    private var young: [Digest: Entry] = [:]
    private var old: [Digest: Entry] = [:]

    /// - Parameter capacity: largest number of tokens. At least half of it holds the most recently used ones.
    init(capacity: Int = 16_384) { self.capacity = capacity }

    var count: Int { young.count + old.count }

    static func digest(of token: String) -> Digest {
        var token = token
        return token.withUTF8 { SHA256.hash(data: UnsafeRawBufferPointer($0)) }
    }

    mutating func find(_ token: Digest) -> Entry? {
        if let entry = young[token] { return entry }
        guard let entry = old.removeValue(forKey: token) else { return nil }
        remember(token, entry)
        return entry
    }

    mutating func remember(_ token: Digest, _ entry: Entry) {
        if young.count >= capacity / 2 { (old, young) = (young, [:]) }
        young[token] = entry
    }
}

extension VerifiedTokens.Entry {
    /// Allowed difference between the issuer's clock and the database's, in seconds.
    private static let leeway = 5.0

    func isValid(at now: Timestamp) -> Bool {
        let seconds = Double(now.microseconds) / 1_000_000
        return seconds < end + Self.leeway && begin.map { seconds >= $0 - Self.leeway } ?? true
    }
}
