import Formats
public import Foundation
import X509

/// Certificates behind a verified signature: the signer's, the authority's above it, the root.
public struct SigningChain: Sendable, Hashable {
    let certificates: [Certificate]
    /// Whether the root is one of Apple's own, not an added one.
    public let isApples: Bool

    /// The certificates below the root that are valid at a time, each with those above it. Expired ones are left out,
    /// because issuers keep no revocation data for them.
    public func certificates(validAt date: Date) -> [SigningCertificate] {
        certificates.indices.dropLast().map { SigningCertificate(path: Array(certificates[$0...])) }.filter {
            $0.path.allSatisfy { ($0.notValidBefore...max($0.notValidBefore, $0.notValidAfter)).contains(date) }
        }
    }
}

/// A signer's certificate, or the authority's above it. Equal if the certificate is the same.
public struct SigningCertificate: Sendable, Hashable {
    /// The certificate, followed by those above it up to the root.
    let path: [Certificate]

    public var subject: String { "\(path[0].subject)" }
    /// Hexadecimal digits, as Apple and OpenSSL print them.
    public var serialNumber: String { Hex.text(of: path[0].serialNumber.bytes).uppercased() }

    public static func == (one: SigningCertificate, other: SigningCertificate) -> Bool { one.path[0] == other.path[0] }

    public func hash(into hasher: inout Hasher) { hasher.combine(path[0]) }
}
