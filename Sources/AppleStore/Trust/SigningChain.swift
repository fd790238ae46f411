public import Foundation
import RelayCore
import X509

/// The certificates behind a signature that was found good: the one that signed, the authority above it, the root.
public struct SigningChain: Sendable, Hashable {
    let certificates: [Certificate]
    /// Whether the root is one of Apple's own, and not one that was added.
    public let isApples: Bool

    /// Those below the root that are valid at a moment, with all above them. Nobody keeps a list of revoked certificates that have
    /// expired.
    public func certificates(validAt date: Date) -> [SigningCertificate] {
        certificates.indices.dropLast().map { SigningCertificate(path: Array(certificates[$0...])) }.filter {
            $0.path.allSatisfy { ($0.notValidBefore...max($0.notValidBefore, $0.notValidAfter)).contains(date) }
        }
    }
}

/// A certificate that signed, or the authority above it. Two are equal where the certificate is the same.
public struct SigningCertificate: Sendable, Hashable {
    /// The certificate itself, and those above it up to the root.
    let path: [Certificate]

    public var subject: String { "\(path[0].subject)" }
    /// In hexadecimal digits, as Apple and OpenSSL print it.
    public var serialNumber: String { Hex.text(of: path[0].serialNumber.bytes).uppercased() }

    public static func == (one: SigningCertificate, other: SigningCertificate) -> Bool { one.path[0] == other.path[0] }

    public func hash(into hasher: inout Hasher) { hasher.combine(path[0]) }
}
