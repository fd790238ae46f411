import Foundation
import ReceiverSupport

extension Received {
    /// The body as JSON, or `.null` if it is not JSON.
    var json: JSON { (try? JSON(data: Data(body.utf8))) ?? .null }

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
