import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import Testing
import X509

/// A message of SNS, as a receiver reads it.
struct SNSMessage {
    let fields: [String: String]

    init(_ body: Data) { fields = (try? JSONDecoder().decode([String: String].self, from: body)) ?? [:] }

    subscript(name: String) -> String? { fields[name] }

    /// The `Message` of a notification.
    var notification: [String: Any] {
        let object = try? JSONSerialization.jsonObject(with: Data((self["Message"] ?? "").utf8)) as? [String: Any]
        return object ?? [:]
    }

    /// As Amazon documents it: the names, in this order, and their values, each on a line of its own.
    private var signedText: Data {
        let names =
            self["Type"] == "Notification"
            ? ["Message", "MessageId", "Timestamp", "TopicArn", "Type"]
            : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
        var text = ""
        for name in names { text += "\(name)\n\(self[name] ?? "")\n" }
        return Data(text.utf8)
    }

    /// - Parameter certificate: in PEM.
    func isSigned(by certificate: String) throws -> Bool {
        let key = try #require(_RSA.Signing.PublicKey(Certificate(pemEncoded: certificate).publicKey))
        let bytes = try #require(Data(base64Encoded: self["Signature"] ?? ""))
        let signature = _RSA.Signing.RSASignature(rawRepresentation: bytes)
        switch self["SignatureVersion"] {
        case "1":
            let digest = Insecure.SHA1.hash(data: signedText)
            return key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
        case "2":
            let digest = SHA256.hash(data: signedText)
            return key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
        default: return false
        }
    }
}
