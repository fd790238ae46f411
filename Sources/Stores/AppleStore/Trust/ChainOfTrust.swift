import Foundation
import SwiftASN1
@_spi(FixedExpiryValidationTime) import X509

/// Finds the key that signed, by following certificates up to a trusted root, as of a given time.
///
/// The time is always that of signing. Apple's signing certificates expire within about two years, but their
/// signatures remain valid (Apple, Receipt Validation Programming Guide, "Validate Receipts Locally"). Revocation is
/// not checked here: ``RevocationCheck`` does that separately, for ``recentChains``.
///
/// Valid chains are cached with their validity: Apple signs with few keys, and verifying a chain costs ten times a
/// signature. Invalid chains are not cached, because their number has no bound.
public struct ChainOfTrust: Sendable {
    /// A key that may sign, and the chain that proves it.
    struct Signer: Sendable {
        let key: Certificate.PublicKey
        /// Trusted directly, without an authority above it, like the key that Xcode signs with.
        let isLocal: Bool
        /// Interval in which all certificates of the chain are valid.
        let validity: ClosedRange<Date>
        /// Nil for a directly trusted key.
        let chain: SigningChain?
        fileprivate let name: RecentSigners.Name
    }

    private let roots: TrustedRoots
    private let known = RecentSigners(capacity: 64)

    public init(_ roots: TrustedRoots) { self.roots = roots }

    /// 1.2.840.113635.100.6.11.1, "Mac App Store Receipt Signing", in the signer's certificate.
    private static let signsReceipts: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// 1.2.840.113635.100.6.2.1, "Apple Worldwide Developer Relations", in the certificate above it.
    private static let developerRelations: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
    /// Limit of certificates; Apple sends three.
    private static let mostCertificates = 6
    /// Accepted times of verification in seconds since 1970: from before the App Store until the year 2100. X.509 times
    /// end in the year 9999, and the verifier crashes on a later time.
    private static let moments: ClosedRange<Int64> = 631_152_000...4_102_444_799

    /// - Parameters:
    ///   - certificates: DER, as found in the document.
    ///   - name: the claimed signer; nil if the certificates are exactly the chain, leaf first.
    /// - Throws: ``NotGenuine``: certificates, untrustedRoot, chain, purpose.
    func signer(
        _ certificates: [ArraySlice<UInt8>], named name: CMSSigner.Identifier?, at moment: AppleTimestamp
    ) async throws(NotGenuine) -> Signer {
        let seconds = moment.millisecondsSince1970 / 1_000
        guard Self.moments.contains(seconds) else {
            throw NotGenuine(.chain, "no certificate of the App Store is valid at the moment that it names")
        }
        let date = Date(timeIntervalSince1970: Double(seconds))
        let entry = RecentSigners.Name(certificates, signer: name)
        if let signer = known[entry], signer.validity.contains(date) { return signer }
        return try await find(certificates, named: name, entry, at: date)
    }

    /// Caches a signer. Call this only after its signature was verified, so that other certificates cannot evict needed
    /// ones.
    func remember(_ signer: Signer) { known.keep(signer, as: signer.name) }

    /// Chains of recently verified signatures, each once, the most recently used first.
    public var recentChains: [SigningChain] {
        var seen: Set<SigningChain> = []
        return known.signers.compactMap(\.chain).filter { seen.insert($0).inserted }
    }

    private func find(
        _ encoded: [ArraySlice<UInt8>], named name: CMSSigner.Identifier?, _ entry: RecentSigners.Name, at date: Date
    ) async throws(NotGenuine) -> Signer {
        guard encoded.contains(where: roots.contains) else {
            throw NotGenuine(.untrustedRoot, "none of its certificates is a trusted root")
        }
        guard encoded.count <= Self.mostCertificates else {
            throw NotGenuine(.certificates, "it carries \(encoded.count) certificates in place of three")
        }
        // Certificates outside the chain may be malformed.
        var bag = encoded.map { bytes in (try? Certificate(derEncoded: Array(bytes))).map { (bytes, $0) } }
        guard let index = name.map({ name in bag.firstIndex { $0?.1.isNamed(name) == true } }) ?? bag.indices.first,
            let (leafBytes, leaf) = bag[index]
        else { throw NotGenuine(.certificates, "the signer's certificate did not come along, or cannot be read") }
        if roots.signsByItself(leafBytes) {
            return try local(leaf, entry, at: date)
        }
        guard name != nil || (bag.count == 3 && !bag.contains { $0 == nil }) else {
            throw NotGenuine(.certificates, "it carries \(bag.count) certificates in place of three, or broken ones")
        }
        bag[index] = nil
        let others = bag.compactMap { $0 }
        let authorities = name == nil ? Array(others.prefix(1)) : others
        let anchors = (name == nil ? Array(others.suffix(1)) : others).filter { roots.isAuthority($0.0) }
        guard !anchors.isEmpty else { throw NotGenuine(.untrustedRoot, "its root is not a trusted one") }
        return try await find(leaf, authorities.map(\.1), anchors, entry, at: date)
    }

    private func local(
        _ certificate: Certificate, _ entry: RecentSigners.Name, at date: Date
    ) throws(NotGenuine) -> Signer {
        let validity = try Self.validity([certificate])
        guard validity.contains(date) else {
            throw NotGenuine(.chain, "the certificate that signed it was not valid then")
        }
        return Signer(key: certificate.publicKey, isLocal: true, validity: validity, chain: nil, name: entry)
    }

    /// Tries each authority alone with its root. A search among authorities that certify each other could be endless.
    private func find(
        _ leaf: Certificate, _ authorities: [Certificate], _ anchors: [(ArraySlice<UInt8>, Certificate)],
        _ entry: RecentSigners.Name, at date: Date
    ) async throws(NotGenuine) -> Signer {
        let above = authorities.filter { $0.subject == leaf.issuer }
        guard !above.isEmpty else {
            throw NotGenuine(.certificates, "the authority above its signer did not come along")
        }
        let candidates = above.filter { $0.extensions[oid: Self.developerRelations] != nil }
        guard leaf.extensions[oid: Self.signsReceipts] != nil, !candidates.isEmpty else {
            throw NotGenuine(.purpose, "its certificates are not those that sign purchases")
        }
        for authority in candidates {
            guard let (rootBytes, root) = anchors.first(where: { $0.1.subject == authority.issuer }) else { continue }
            var verifier = Verifier(rootCertificates: CertificateStore([root])) {
                RFC5280Policy(fixedExpiryValidationTime: date)
            }
            let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore([authority]))
            guard case .validCertificate(let chain) = result, chain.count == 3 else { continue }
            return Signer(
                key: leaf.publicKey, isLocal: false, validity: try Self.validity(chain),
                chain: SigningChain(certificates: Array(chain), isApples: roots.isApples(rootBytes)), name: entry)
        }
        throw NotGenuine(.chain, "its certificates do not lead to a trusted root at the moment of signing")
    }

    private static func validity(_ chain: some Collection<Certificate>) throws(NotGenuine) -> ClosedRange<Date> {
        guard let start = chain.map(\.notValidBefore).max(), let end = chain.map(\.notValidAfter).min(), start <= end
        else { throw NotGenuine(.chain, "its certificates were never valid together") }
        return start...end
    }
}
