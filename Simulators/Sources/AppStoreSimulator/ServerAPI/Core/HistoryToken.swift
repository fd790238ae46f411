import Crypto
import Foundation

/// Where the next page of a history begins; it goes with the request that it was given out for.
struct HistoryToken {
    let position: NotificationHistory.Position
    private let digest: String

    init(_ position: NotificationHistory.Position, for request: HistoryRequest) {
        self.position = position
        digest = Self.digest(of: request)
    }

    /// - Returns: nil where it was not given out for this request.
    init?(_ text: String, for request: HistoryRequest) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let date = Int64(parts[0]), let sequence = Int(parts[1]),
            parts[2] == Self.digest(of: request)
        else { return nil }
        self.init(NotificationHistory.Position(signedDate: date, sequence: sequence), for: request)
    }

    var text: String { "\(position.signedDate)-\(position.sequence)-\(digest)" }

    private static func digest(of request: HistoryRequest) -> String {
        let parts = [
            "\(request.startDate)", "\(request.endDate)", request.transactionId ?? "", request.notificationType ?? "",
            request.notificationSubtype ?? "", "\(request.onlyFailures)",
        ]
        let hash = SHA256.hash(data: Data(parts.joined(separator: "\n").utf8))
        return hash.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
