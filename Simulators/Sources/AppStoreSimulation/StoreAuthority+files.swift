import Crypto
import CryptoExtras
public import Foundation
import SwiftASN1
import X509

extension StoreAuthority {
    /// What whoever is to trust it is given.
    public var rootPEM: String {
        PEMDocument(type: Certificate.defaultPEMDiscriminator, derBytes: root).pemString
    }

    /// Keeps it for another process: `NAME-chain.pem`, the one that signs first, and `NAME-key.pem`, readable by its owner only.
    public func write(to folder: URL, name: String) throws {
        let chain = certificates.map {
            PEMDocument(type: Certificate.defaultPEMDiscriminator, derBytes: $0).pemString + "\n"
        }
        try Data(chain.joined().utf8).write(to: folder.appendingPathComponent("\(name)-chain.pem"))
        let keyFile = folder.appendingPathComponent("\(name)-key.pem")
        guard
            FileManager.default.createFile(
                atPath: keyFile.path, contents: Data((key.pem + "\n").utf8), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
    }

    /// As ``write(to:name:)`` left it.
    public init(_ purpose: Purpose, in folder: URL, name: String) throws {
        let chain = try String(contentsOf: folder.appendingPathComponent("\(name)-chain.pem"), encoding: .utf8)
        let documents = try PEMDocument.parseMultiple(pemString: chain)
        guard documents.count == 3 else { throw WrongKey() }
        try self.init(
            certificates: documents.map(\.derBytes),
            key: SigningKey(
                purpose, pem: String(contentsOf: folder.appendingPathComponent("\(name)-key.pem"), encoding: .utf8)))
    }
}

extension SigningKey {
    init(_ purpose: StoreAuthority.Purpose, pem: String) throws {
        switch purpose {
        case .receipts: self = .rsa(try _RSA.Signing.PrivateKey(pemRepresentation: pem))
        case .transactions: self = .p256(try P256.Signing.PrivateKey(pemRepresentation: pem))
        }
    }

    var pem: String {
        switch self {
        case .rsa(let key): key.pemRepresentation
        case .p256(let key): key.pemRepresentation
        }
    }
}
