import AppStoreSimulation
import Foundation
import SimulatorKit

/// The requested test notifications, and the address for them.
struct TestNotifications: Sendable {
    /// A requested notification that has not been posted yet.
    struct Order: Sendable {
        let token: String
        let url: String
        let body: Data
    }

    private struct Sent: Sendable {
        let signedPayload: String
        var attempts: [SendAttempt] = []
    }

    static let capacity = 1_000

    /// nil if none is configured.
    var url: String?
    private var waiting: [Order] = []
    private var known: [String: Sent] = [:]

    mutating func add(_ order: Order, signedPayload: String) {
        if known.count >= Self.capacity { known.removeAll() }
        known[order.token] = Sent(signedPayload: signedPayload)
        waiting.append(order)
    }

    mutating func takeWaiting() -> [Order] {
        defer { waiting = [] }
        return waiting
    }

    mutating func end(_ order: Order, _ attempt: SendAttempt) { known[order.token]?.attempts.append(attempt) }

    /// - Returns: nil for an unknown token, or before the first attempt has ended.
    func answer(_ token: String) -> CheckTestResponse? {
        guard let sent = known[token], let first = sent.attempts.first else { return nil }
        return CheckTestResponse(
            signedPayload: sent.signedPayload, firstSendAttemptResult: first.sendAttemptResult,
            sendAttempts: sent.attempts)
    }
}

/// App Store Server API, `CheckTestNotificationResponse`.
struct CheckTestResponse: Encodable {
    let signedPayload: String
    let firstSendAttemptResult: SendAttempt.Result
    let sendAttempts: [SendAttempt]
}

/// `POST /inApps/v1/notifications/test` and `GET /inApps/v1/notifications/test/{testNotificationToken}`. Source: App
/// Store Server API, "Request a Test Notification", "Get Test Notification Status".
extension SimulatedServerAPI {
    mutating func requestTest(at now: Date) throws -> Reply {
        guard let url = tests.url else { throw APIFault.noNotificationURL }
        let notification = SimulatedNotification(
            notificationType: "TEST", notificationUUID: UUID().uuidString.lowercased(),
            environment: settings.environment, bundleId: settings.bundleId,
            appAppleId: settings.environment == "Production" ? settings.appAppleId : nil, signedDate: now)
        let body = try settings.authority.sign(notification)
        let token = "\(UUID().uuidString.lowercased())_\(now.wholeMilliseconds)"
        let signed: [String: String] = try JSONBody.decode(from: body)
        tests.add(
            TestNotifications.Order(token: token, url: url, body: body), signedPayload: signed["signedPayload"] ?? "")
        return Reply(json: ["testNotificationToken": token])
    }

    func testStatus(_ token: String) throws -> Reply {
        guard (1...255).contains(token.utf8.count) else { throw APIFault.testToken }
        guard let answer = tests.answer(token) else { throw APIFault.testNotFound }
        return Reply(json: answer)
    }
}

extension APIFault {
    static let testToken = APIFault(status: 400, code: 4_000_020, message: "Invalid test notification token.")
    static let noNotificationURL = APIFault(
        status: 404, code: 4_040_007, message: "No App Store Server Notification URL found for provided app.")
    static let testNotFound = APIFault(
        status: 404, code: 4_040_008, message: "Test notification status is not yet available, or was not found.")
}
