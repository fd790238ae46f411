import Crypto
import Formats
import Foundation
import SwiftASN1
import X509

/// The roots to which a signature of the App Store may lead.
///
/// Apple's own are identified by the SHA-256 of their encoding, because receipts and signed transactions contain the
/// certificates. Source: https://www.apple.com/certificateauthority/.
public struct TrustedRoots: Sendable {
    /// A certificate file that cannot be used, with the reason.
    public struct Unusable: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    private static let apple = Set(
        [
            // Apple Root CA (RSA), 2006 to 2035: app receipts.
            "B0B1730ECBC7FF4505142C49F1295E6EDA6BCAED7E2C68C5BE91B5A11001F024",
            // Apple Root CA - G2 (RSA), 2014 to 2039.
            "C2B9B042DD57830E7D117DAC55AC8AE19407D38E41D88F3215BC3A890444A050",
            // Apple Root CA - G3 (P-384), 2014 to 2039: signed transactions and notifications.
            "63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179",
        ].compactMap { Hex.bytes($0) })

    /// Role of an added certificate.
    private enum Use {
        /// A root above an authority above a signer, like Apple's.
        case authority
        /// The certificate signs documents directly, like Xcode's; no certificate is below it.
        case signer
    }

    private let added: [[UInt8]: Use]

    /// Apple's roots only.
    public static let appleOnly = TrustedRoots(added: [:])

    private init(added: [[UInt8]: Use]) { self.added = added }

    /// - Parameter files: contents of certificate files: one certificate in DER, or any number in PEM.
    public init(adding files: [[UInt8]]) throws(Unusable) {
        var added: [[UInt8]: Use] = [:]
        for file in files {
            for (bytes, certificate) in try Self.certificates(file) {
                added[Self.fingerprint(bytes)] = Self.isAuthority(certificate) ? .authority : .signer
            }
        }
        self.init(added: added)
    }

    /// Whether roots other than Apple's were added.
    public var hasAdded: Bool { !added.isEmpty }

    /// Whether it is one of Apple's roots or an added one.
    func contains(_ certificate: ArraySlice<UInt8>) -> Bool {
        let fingerprint = Self.fingerprint(certificate)
        return Self.apple.contains(fingerprint) || added[fingerprint] != nil
    }

    func isApples(_ certificate: ArraySlice<UInt8>) -> Bool { Self.apple.contains(Self.fingerprint(certificate)) }

    func isAuthority(_ certificate: ArraySlice<UInt8>) -> Bool {
        let fingerprint = Self.fingerprint(certificate)
        return Self.apple.contains(fingerprint) || added[fingerprint] == .authority
    }

    func signsByItself(_ certificate: ArraySlice<UInt8>) -> Bool { added[Self.fingerprint(certificate)] == .signer }

    /// A key that may sign other things than certificates is not an authority: its owner, such as an Xcode user, could
    /// create one below it that looks like Apple's.
    private static func isAuthority(_ certificate: Certificate) -> Bool {
        guard certificate.issuer == certificate.subject, let usage = try? certificate.extensions.keyUsage,
            certificate.extensions[oid: .X509ExtensionID.extendedKeyUsage] == nil
        else { return false }
        return usage.keyCertSign && !usage.digitalSignature
    }

    private static func fingerprint(_ certificate: ArraySlice<UInt8>) -> [UInt8] {
        Array(SHA256.hash(data: certificate))
    }

    private static func certificates(
        _ file: [UInt8]
    ) throws(Unusable) -> [(bytes: ArraySlice<UInt8>, certificate: Certificate)] {
        var encoded = [file]
        if file.contains(Array("-----BEGIN".utf8)) {
            guard let documents = try? PEMDocument.parseMultiple(pemString: String(decoding: file, as: UTF8.self))
            else {
                throw Unusable(description: "its PEM cannot be read")
            }
            encoded = documents.filter { $0.discriminator == Certificate.defaultPEMDiscriminator }.map(\.derBytes)
            guard !encoded.isEmpty else { throw Unusable(description: "it holds no CERTIFICATE") }
        }
        var certificates: [(ArraySlice<UInt8>, Certificate)] = []
        for bytes in encoded {
            guard let certificate = try? Certificate(derEncoded: bytes) else {
                throw Unusable(description: "it holds no certificate, neither in DER nor in PEM")
            }
            certificates.append((bytes[...], certificate))
        }
        return certificates
    }
}
