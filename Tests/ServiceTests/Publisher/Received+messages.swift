import Crypto
import Foundation
import ReceiverSupport

extension Received {
    /// The body as JSON, or `.null` if it is not JSON.
    var json: JSON { (try? JSON(data: Data(body.utf8))) ?? .null }

    /// Whether its signature is that of its body with this secret.
    func isSigned(by secret: Data) -> Bool {
        guard let id = headers["webhook-id"], let time = headers["webhook-timestamp"] else { return false }
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(id).\(time).\(body)".utf8), using: SymmetricKey(data: secret))
        return headers["webhook-signature"] == "v1,\(Data(code).base64EncodedString())"
    }

    /// The messages about a customer, once there are that many.
    static func messages(
        _ count: Int, of username: String, _ received: @escaping @Sendable () -> [Received]
    ) async throws -> [Received] {
        try await Awaiting.fact("\(count) messages about \(username)") {
            received().filter { $0.json["applicationUsername"].string == username }
        } holds: {
            $0.count >= count
        }
    }
}
