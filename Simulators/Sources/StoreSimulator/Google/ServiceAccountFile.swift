import CryptoExtras
import Foundation

/// The key file of a service account, with the fields that Google Cloud writes (in snake case).
struct ServiceAccountFile: Sendable, Codable {
    var type = "service_account"
    var projectId: String
    var privateKeyId: String
    var privateKey: String
    var clientEmail: String
    var clientId: String
    var tokenUri: String

    static func made(tokenURI: String) throws -> ServiceAccountFile {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let number = UInt64.random(in: 1...999_999_999)
        return ServiceAccountFile(
            projectId: "simulated", privateKeyId: UUID().uuidString.lowercased().filter { $0 != "-" },
            privateKey: key.pkcs8PEMRepresentation + "\n",
            clientEmail: "relay-\(number)@simulated.iam.gserviceaccount.com", clientId: String(number),
            tokenUri: tokenURI)
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

extension ServiceAccountFile {
    init(json: Data) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(ServiceAccountFile.self, from: json)
    }
}
