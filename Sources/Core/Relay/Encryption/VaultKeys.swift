import Crypto
import CryptoExtras
import Foundation
import Postgres

/// The database's data keys and their use.
///
/// - Names (emails and a customer's other names) are compared, joined and indexed, so equal names must be equal when
///   sealed. They use AES-GCM-SIV with a nonce derived from the name (HMAC-SHA-256), always with the first data key. A
///   reader of the database sees only which rows belong to one customer, and how long a name is.
/// - All other values (receipts, stores' messages) use AES-GCM with a random nonce and the newest data key, whose
///   number precedes the value.
struct VaultKeys: Sendable {
    private struct Pair: Sendable {
        let names: SymmetricKey
        let nonces: SymmetricKey
        let bytes: SymmetricKey

        init(_ data: SymmetricKey) {
            func derive(_ purpose: String) -> SymmetricKey {
                HKDF<SHA256>.deriveKey(inputKeyMaterial: data, info: Array(purpose.utf8), outputByteCount: 32)
            }
            names = derive("names")
            nonces = derive("nonces")
            bytes = derive("bytes")
        }
    }

    private let pairs: [Int32: Pair]
    private let first: Pair
    let newest: Int32
    /// All keys created before this time are included. Nil: no other process creates keys during this run.
    var readAt: ContinuousClock.Instant?

    /// Number of the key that seals every name.
    static let ofNames: Int32 = 1

    /// Nil without a first key.
    init?(_ keys: [Int32: SymmetricKey], readAt: ContinuousClock.Instant = .now) {
        guard let newest = keys.keys.max(), let first = keys[Self.ofNames] else { return nil }
        self.pairs = keys.mapValues(Pair.init)
        self.first = Pair(first)
        self.newest = newest
        self.readAt = readAt
    }

    var numbers: Set<Int32> { Set(pairs.keys) }

    func seal(name: [UInt8]) throws -> [UInt8] {
        let nonce = HMAC<SHA256>.authenticationCode(for: name, using: first.nonces).prefix(12)
        let box = try AES.GCM._SIV.seal(name, using: first.names, nonce: AES.GCM._SIV.Nonce(data: Array(nonce)))
        return Array(box.combined)
    }

    func open(name sealed: [UInt8]) throws -> [UInt8] {
        Array(try AES.GCM._SIV.open(AES.GCM._SIV.SealedBox(combined: sealed), using: first.names))
    }

    func seal(bytes: [UInt8]) throws -> [UInt8] {
        guard let pair = pairs[newest], let combined = try AES.GCM.seal(bytes, using: pair.bytes).combined else {
            throw VaultError.cannotWrap
        }
        return Array(combined)
    }

    /// Nil if this key is not included.
    func open(bytes sealed: [UInt8], by number: Int32) throws -> [UInt8]? {
        guard let pair = pairs[number] else { return nil }
        return Array(try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: pair.bytes))
    }
}
