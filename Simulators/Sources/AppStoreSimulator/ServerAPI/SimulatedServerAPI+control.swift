import AppStoreSimulation
import Foundation
import SimulatorKit

/// The addresses of the control API.
private enum ControlRoute: Equatable {
    case subscription(String)
    case notifications
    case notificationURL
    case consumption
    case trouble
    case revoked(String)
    case ocsp
    case requests

    /// - Returns: nil for an unknown address.
    init?(_ segments: [String]) {
        guard segments.count > 1 else { return nil }
        switch (segments[1], segments.count) {
        case ("subscriptions", 3): self = .subscription(segments[2])
        case ("notifications", 2): self = .notifications
        case ("notification-url", 2): self = .notificationURL
        case ("consumption", 2): self = .consumption
        case ("trouble", 2): self = .trouble
        case ("revoked", 3): self = .revoked(segments[2])
        case ("ocsp", 2): self = .ocsp
        case ("requests", 2): self = .requests
        default: return nil
        }
    }
}

/// The control API.
extension SimulatedServerAPI {
    static let controlPrefix = "_simulator"

    mutating func control(_ call: Call, at now: Date) throws(ControlFault) -> Reply {
        guard let route = ControlRoute(call.segments) else { throw .noSuchAddress }
        guard let body = call.body else { throw .tooLarge }
        switch (route, call.method) {
        case (.subscription(let number), "PUT"): return try put(number, body, at: now)
        case (.subscription(let number), "DELETE"):
            guard known.forget(number) else { throw .notFound("there is no such subscription") }
        case (.subscription, _): return .notAllowed("PUT", "DELETE")
        case (.notifications, "POST"): return try add(body, call.queryItems["sendAttemptResult"], at: now)
        case (.notifications, _): return .notAllowed("POST")
        case (.notificationURL, "PUT"): tests.url = try Self.url(body)
        case (.notificationURL, "DELETE"): tests.url = nil
        case (.notificationURL, _): return .notAllowed("PUT", "DELETE")
        case (.consumption, "GET"): return Reply(json: ["items": consumption.items])
        case (.consumption, _): return .notAllowed("GET")
        case (.trouble, "PUT"):
            trouble = Counted(try Self.order(body))
        case (.trouble, "DELETE"): trouble = Counted()
        case (.trouble, _): return .notAllowed("PUT", "DELETE")
        case (.revoked(let name), "PUT"): try revoke(name)
        case (.revoked(let name), "DELETE"): try restore(name)
        case (.revoked, _): return .notAllowed("PUT", "DELETE")
        case (.ocsp, "PUT"): responder.answer = try Self.answer(body)
        case (.ocsp, "DELETE"): responder.answer = .usual
        case (.ocsp, _): return .notAllowed("PUT", "DELETE")
        case (.requests, "GET"): return try requests(call)
        case (.requests, "DELETE"): log.removeAll()
        case (.requests, _): return .notAllowed("GET", "DELETE")
        }
        return Reply(status: 204)
    }

    private mutating func put(_ number: String, _ body: Data, at now: Date) throws(ControlFault) -> Reply {
        guard SubscriptionUpdate.isNumber(number) else { throw .invalid("a transaction id has 1 to 32 digits") }
        let update = try SubscriptionUpdate(json: body)
        let environment = settings.environment
        let transaction = update.transaction(
            of: number, app: settings.bundleId, environment: environment, at: now)
        let kept = try known.put(
            KnownSubscription(
                transaction: transaction, renewal: update.renewal(of: number, environment: environment),
                status: update.status.flatMap { SimulatedNotification.Status(rawValue: $0) },
                group: update.subscriptionGroupIdentifier ?? "21000001",
                transactionIds: (update.transactionIds ?? []) + [transaction.transactionId]))
        let status = kept.status ?? SimulatedNotification.Status(kept.transaction, kept.renewal, at: now)
        return Reply(
            json: PutAnswer(
                originalTransactionId: number, status: status.rawValue, transactionIds: kept.transactionIds))
    }

    private mutating func add(_ body: Data, _ result: String?, at now: Date) throws(ControlFault) -> Reply {
        guard let result = SendAttempt.Result(rawValue: result ?? SendAttempt.Result.success.rawValue) else {
            let names = SendAttempt.Result.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("sendAttemptResult is one of \(names)")
        }
        let notification = try RecordedNotification(body: body)
        history.add(notification, SendAttempt(attemptDate: now.wholeMilliseconds, sendAttemptResult: result))
        return Reply(
            json: AddAnswer(
                notificationUUID: notification.uuid, signedDate: notification.signedDate,
                transactionIds: notification.transactionIds))
    }

    private func requests(_ call: Call) throws(ControlFault) -> Reply {
        guard let after = Int(call.queryItems["after"] ?? "0"), after >= 0,
            let limit = Int(call.queryItems["limit"] ?? "100"), (1...1_000).contains(limit)
        else { throw .invalid("after is a sequence, limit is 1 to 1000") }
        var page = log.page(after: after, limit: limit) { $0 }
        page.totalItemCount = nil
        return Reply(json: page)
    }

    /// `{"url":"http://127.0.0.1:8080/apple/notifications"}`.
    private static func url(_ body: Data) throws(ControlFault) -> String {
        let fields: [String: String] = try JSONBody.decode(from: body)
        guard let url = fields["url"], fields.count == 1, (try? OptionChecks.url(url)) != nil else {
            throw .invalid("url is where notifications go")
        }
        return url
    }

    private static func order(_ body: Data) throws(ControlFault) -> TroubleOrder {
        let order = try TroubleOrder.read(
            body, [.on, .status, .errorCode, .retryAfterMilliseconds, .hang, .reset, .times], statuses: 400...599)
        let kinds = [order.status != nil, order.hang == true, order.reset == true].filter { $0 }.count
        guard kinds == 1 else { throw .invalid("trouble is one of status, hang and reset") }
        if let on = order.on, !APIRoute.names.contains(on) {
            throw .invalid("on is one of \(APIRoute.names.sorted().joined(separator: ", "))")
        }
        guard order.status != nil || order.errorCode == nil && order.retryAfterMilliseconds == nil else {
            throw .invalid("errorCode and retryAfterMilliseconds go with a status")
        }
        return order
    }
}

private struct PutAnswer: Encodable {
    let originalTransactionId: String
    let status: Int
    let transactionIds: [String]
}

private struct AddAnswer: Encodable {
    let notificationUUID: String
    let signedDate: Int64
    let transactionIds: [String]
}
