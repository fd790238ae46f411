import AppStoreSimulation
import Crypto
import Foundation
import SimulatorKit

/// The notifications sent, by signing time.
struct NotificationHistory: Sendable {
    /// A position between two notifications.
    struct Position: Sendable, Comparable {
        let signedDate: Int64
        let sequence: Int

        static func < (left: Position, right: Position) -> Bool {
            (left.signedDate, left.sequence) < (right.signedDate, right.sequence)
        }
    }

    static let capacity = 5_000

    private(set) var items: [RecordedNotification] = []
    private var nextSequence = 1

    /// If the notification's UUID is known, only the attempt is added.
    mutating func add(_ notification: RecordedNotification, _ attempt: SendAttempt) {
        if let index = items.firstIndex(where: { $0.uuid == notification.uuid }) {
            guard items[index].attempts.count < RecordedNotification.mostAttempts else { return }
            items[index].attempts.append(attempt)
            return
        }
        var notification = notification
        notification.attempts = [attempt]
        notification.sequence = nextSequence
        nextSequence += 1
        let index = items.firstIndex { $0.position > notification.position } ?? items.endIndex
        items.insert(notification, at: index)
        if items.count > Self.capacity { items.removeFirst() }
    }
}

extension RecordedNotification {
    var position: NotificationHistory.Position {
        NotificationHistory.Position(signedDate: signedDate, sequence: sequence)
    }
}

/// A signed notification, read but not verified.
struct RecordedNotification: Sendable {
    static let mostAttempts = 6

    let signedPayload: String
    var uuid: String
    let type: String
    let subtype: String?
    /// In milliseconds since 1970.
    let signedDate: Int64
    let environment: String
    let bundleId: String
    /// nil if it concerns no purchase.
    let originalTransactionId: String?
    /// The signed transaction in it.
    let signedTransactionInfo: String?
    /// Whether its purchase renews automatically; false if it concerns none.
    let renews: Bool
    /// The subscription's number and the transaction's.
    let transactionIds: [String]
    var attempts: [SendAttempt] = []
    /// Order of arrival.
    var sequence = 0

    /// - Parameter body: written by `sign-notification`.
    init(body: Data) throws(ControlFault) {
        let outer: Body = try JSONBody.decode(from: body, fields: ["signedPayload"])
        let payload: Payload = try Self.content(of: outer.signedPayload, "signedPayload")
        guard let about = payload.data ?? payload.summary ?? payload.appData else {
            throw .invalid("the notification is about nothing")
        }
        guard (0...253_402_300_799_999).contains(payload.signedDate) else {
            throw .invalid("signedDate is out of range")
        }
        let transaction: Transaction? =
            if let text = about.signedTransactionInfo { try Self.content(of: text, "signedTransactionInfo") } else {
                nil
            }
        signedPayload = outer.signedPayload
        uuid = payload.notificationUUID.lowercased()
        type = payload.notificationType
        subtype = payload.subtype
        signedDate = payload.signedDate
        environment = about.environment
        bundleId = about.bundleId
        originalTransactionId = transaction?.originalTransactionId
        signedTransactionInfo = about.signedTransactionInfo
        renews = transaction?.type == "Auto-Renewable Subscription"
        transactionIds = Set([transaction?.originalTransactionId, transaction?.transactionId].compactMap(\.self))
            .sorted()
    }

    var wasTaken: Bool { attempts.contains { $0.sendAttemptResult == .success } }

    private static func content<Content: Decodable>(of text: String, _ name: String) throws(ControlFault) -> Content {
        guard let jws = UnverifiedJWS(text) else { throw .invalid("\(name) is no JWS") }
        do {
            return try JSONBody.decode(from: jws.payload)
        } catch {
            throw .invalid("in \(name): \(error.message)")
        }
    }

    private struct Body: Decodable {
        let signedPayload: String
    }

    private struct Payload: Decodable {
        let notificationType: String
        let subtype: String?
        let notificationUUID: String
        let signedDate: Int64
        let data: About?
        let summary: About?
        let appData: About?
    }

    private struct About: Decodable {
        let environment: String
        let bundleId: String
        let signedTransactionInfo: String?
    }

    private struct Transaction: Decodable {
        let transactionId: String
        let originalTransactionId: String
        let type: String?
    }
}

/// One attempt to deliver a notification (App Store Server API, `sendAttemptItem`).
struct SendAttempt: Sendable, Encodable {
    enum Result: String, Sendable, Encodable, CaseIterable {
        case success = "SUCCESS"
        case timedOut = "TIMED_OUT"
        case tlsIssue = "TLS_ISSUE"
        case circularRedirect = "CIRCULAR_REDIRECT"
        case noResponse = "NO_RESPONSE"
        case socketIssue = "SOCKET_ISSUE"
        case unsupportedCharset = "UNSUPPORTED_CHARSET"
        case invalidResponse = "INVALID_RESPONSE"
        case prematureClose = "PREMATURE_CLOSE"
        case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        case other = "OTHER"

        /// - Parameter status: nil without an answer.
        init(status: Int?) {
            guard let status else {
                self = .noResponse
                return
            }
            self = DeliverySchedule.isSuccess(status) ? .success : .unsuccessfulStatus
        }
    }

    /// In milliseconds since 1970.
    let attemptDate: Int64
    let sendAttemptResult: Result
}

/// Request of `POST /inApps/v1/notifications/history`.
struct HistoryRequest: Sendable, Equatable {
    /// Limit of the history's age, in milliseconds.
    static let reach: Int64 = 180 * 86_400_000

    let startDate: Int64
    let endDate: Int64
    let transactionId: String?
    let notificationType: String?
    let notificationSubtype: String?
    let onlyFailures: Bool

    init(body: Data?, at now: Date) throws(APIFault) {
        guard let body, let fields: Fields = try? JSONBody.decode(from: body) else { throw .badRequest }
        guard let start = fields.startDate?.milliseconds else { throw .startDate }
        guard let end = fields.endDate?.milliseconds else { throw .endDate }
        guard start < end else { throw .startAfterEnd }
        guard start >= now.wholeMilliseconds - Self.reach else { throw .tooFarInPast }
        guard fields.transactionId.map(SubscriptionUpdate.isNumber) ?? true else { throw .transactionId }
        guard fields.notificationType != nil || fields.notificationSubtype == nil else { throw .notificationType }
        guard fields.transactionId == nil || fields.notificationType == nil else { throw .multipleFilters }
        startDate = start
        endDate = end
        transactionId = fields.transactionId
        notificationType = fields.notificationType
        notificationSubtype = fields.notificationSubtype
        onlyFailures = fields.onlyFailures ?? false
    }

    private struct Fields: Decodable {
        let startDate: Moment?
        let endDate: Moment?
        let transactionId: String?
        let notificationType: String?
        let notificationSubtype: String?
        let onlyFailures: Bool?
    }

    /// A number of milliseconds, or any other value.
    private struct Moment: Decodable {
        let milliseconds: Int64?

        init(from decoder: any Decoder) throws {
            let number = try? decoder.singleValueContainer().decode(Int64.self)
            milliseconds = number.flatMap { (0...253_402_300_799_999).contains($0) ? $0 : nil }
        }
    }
}

/// Position of the next page of a history; valid only with the same request.
struct HistoryToken {
    let position: NotificationHistory.Position
    private let digest: String

    init(_ position: NotificationHistory.Position, for request: HistoryRequest) {
        self.position = position
        digest = Self.digest(of: request)
    }

    /// - Returns: nil if it was issued for another request.
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

/// `POST /inApps/v1/notifications/history` (App Store Server API, "Get Notification History").
extension SimulatedServerAPI {
    func page(for call: Call, at now: Date) throws -> Reply {
        let request = try HistoryRequest(body: call.body, at: now)
        var start = NotificationHistory.Position(signedDate: request.startDate, sequence: 0)
        if let text = call.queryItems["paginationToken"] {
            guard let token = HistoryToken(text, for: request) else { throw APIFault.paginationToken }
            start = max(start, token.position)
        }
        let following = history.items.filter { $0.position > start && matches($0, request) }
        let page = following.prefix(settings.pageSize)
        return Reply(
            json: HistoryResponse(
                notificationHistory: page.map {
                    HistoryResponse.Item(signedPayload: $0.signedPayload, sendAttempts: $0.attempts)
                },
                hasMore: following.count > page.count,
                paginationToken: HistoryToken(page.last?.position ?? start, for: request).text))
    }

    private func matches(_ notification: RecordedNotification, _ request: HistoryRequest) -> Bool {
        guard notification.environment == settings.environment, notification.bundleId == settings.bundleId,
            notification.signedDate < request.endDate, !(request.onlyFailures && notification.wasTaken),
            request.notificationType == nil || notification.type == request.notificationType,
            request.notificationSubtype == nil || notification.subtype == request.notificationSubtype
        else { return false }
        guard let transactionId = request.transactionId else { return true }
        if notification.transactionIds.contains(transactionId) { return true }
        // The requested id is one of the subscription's other transactions.
        return notification.originalTransactionId.map { $0 == known.find(transactionId)?.number } ?? false
    }
}

/// App Store Server API, `NotificationHistoryResponse`.
private struct HistoryResponse: Encodable {
    struct Item: Encodable {
        let signedPayload: String
        let sendAttempts: [SendAttempt]
    }

    let notificationHistory: [Item]
    let hasMore: Bool
    let paginationToken: String
}
