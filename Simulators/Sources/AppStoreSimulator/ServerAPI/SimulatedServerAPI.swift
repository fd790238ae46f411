import AppStoreSimulation
import Foundation
import SimulatorKit

/// The App Store Server API without HTTP and clock: its data, the requested trouble, and its answers.
struct SimulatedServerAPI: SimulatedState {
    /// Several times the longest notification.
    static let bodyLimit = 128 * 1_024

    let settings: ServerSettings
    var known = KnownSubscriptions()
    var history = NotificationHistory()
    var tests = TestNotifications()
    var consumption = ReceivedConsumption()
    var trouble = Counted<TroubleOrder>()
    var responder: OCSPResponder
    var log: RequestLog<LoggedAPICall>

    init(settings: ServerSettings) throws {
        self.settings = settings
        responder = try OCSPResponder([settings.authority, settings.receipts].compactMap { $0 })
        log = RequestLog(capacity: settings.keepRequests)
    }

    mutating func begin(_ call: Call, at now: Date) -> Verdict<Void> {
        if Self.isOCSP(call) { return beginOCSP(call, at: now) }
        let verification = settings.verifier.verify(call.bearerToken, at: now)
        var order = trouble.next(on: APIRoute(call.segments)?.name)
        if order?.status == APIFault.rateLimit.status, order?.retryAfterMilliseconds == nil {
            order?.retryAfterMilliseconds = 1_000
        }
        let ending = Ending(order?.trouble, at: now) { status in
            if let code = order?.errorCode { return APIFault(status: status, code: code, message: "Simulated.").reply }
            let usual = [APIFault.rateLimit, .internalError].first { $0.status == status }
            return usual?.reply ?? Reply(status: status)
        } answer: {
            reply(to: call, verification, at: now)
        }
        log.add { LoggedAPICall($0, call, authorized: verification == .good, ending.outcome, at: now) }
        return Verdict((), ending)
    }

    private mutating func reply(to call: Call, _ verification: TokenVerifier.Verification, at now: Date) -> Reply {
        if verification == .bad { return Reply(status: 401) }
        do {
            if verification == .otherApp { throw APIFault.notFound }
            switch APIRoute(call.segments) {
            case .subscriptions(let transactionId):
                return call.method == "GET"
                    ? try subscriptions(of: transactionId, call, at: now) : .notAllowed("GET")
            case .history:
                return call.method == "POST" ? try page(for: call, at: now) : .notAllowed("POST")
            case .consumption(let transactionId):
                return call.method == "PUT" ? try keepConsumption(of: transactionId, call, at: now) : .notAllowed("PUT")
            case .refunds(let transactionId):
                return call.method == "GET" ? try refunds(of: transactionId, call) : .notAllowed("GET")
            case .test: return call.method == "POST" ? try requestTest(at: now) : .notAllowed("POST")
            case .testStatus(let token): return call.method == "GET" ? try testStatus(token) : .notAllowed("GET")
            case nil: return Reply(status: 404)
            }
        } catch let fault as APIFault {
            return fault.reply
        } catch {
            return APIFault.internalError.reply
        }
    }
}

/// The addresses of the API.
enum APIRoute {
    case subscriptions(String)
    case history
    case test
    case testStatus(String)
    case consumption(String)
    case refunds(String)

    init?(_ segments: [String]) {
        guard segments.first == "inApps" else { return nil }
        let parts = Array(segments.dropFirst())
        switch (parts.count, parts.prefix(3)) {
        case (3, ["v1", "notifications", "history"]): self = .history
        case (3, ["v1", "notifications", "test"]): self = .test
        case (4, ["v2", "transactions", "consumption"]): self = .consumption(parts[3])
        case (4, ["v2", "refund", "lookup"]): self = .refunds(parts[3])
        case (4, ["v1", "notifications", "test"]): self = .testStatus(parts[3])
        case (3, _) where parts.starts(with: ["v1", "subscriptions"]): self = .subscriptions(parts[2])
        default: return nil
        }
    }

    /// Name of the route for trouble.
    var name: String {
        switch self {
        case .subscriptions: "subscriptions"
        case .history: "history"
        case .test, .testStatus: "test"
        case .consumption: "consumption"
        case .refunds: "refunds"
        }
    }

    static let names: Set<String> = ["subscriptions", "history", "test", "consumption", "refunds"]
}

/// `GET /inApps/v1/subscriptions/{transactionId}` (App Store Server API, "Get All Subscription Statuses").
extension SimulatedServerAPI {
    func subscriptions(of transactionId: String, _ call: Call, at now: Date) throws -> Reply {
        guard SubscriptionUpdate.isNumber(transactionId) else { throw APIFault.transactionId }
        let wanted = try call.queryItems.values("status").map { text in
            guard let status = Int(text).flatMap(SimulatedNotification.Status.init) else {
                throw APIFault.subscriptionStatus
            }
            return status
        }
        guard let found = known.find(transactionId), found.transaction.environment == settings.environment,
            found.transaction.bundleId == settings.bundleId
        else { throw APIFault.notFound }
        let status = found.status ?? SimulatedNotification.Status(found.transaction, found.renewal, at: now)
        let isWanted = wanted.isEmpty || wanted.contains(status)
        return Reply(
            json: StatusResponse(
                environment: settings.environment, bundleId: settings.bundleId, appAppleId: settings.appAppleId,
                data: isWanted ? [try group(found, status, at: now)] : []))
    }

    private func group(
        _ found: KnownSubscription, _ status: SimulatedNotification.Status, at now: Date
    ) throws -> StatusResponse.Group {
        StatusResponse.Group(
            subscriptionGroupIdentifier: found.group,
            lastTransactions: [
                StatusResponse.Item(
                    originalTransactionId: found.number, status: status.rawValue,
                    signedTransactionInfo: try settings.authority.sign(json: found.transaction.json(signedDate: now)),
                    signedRenewalInfo: try settings.authority.sign(json: found.renewal.json(signedDate: now)))
            ])
    }
}

/// App Store Server API, `StatusResponse`.
private struct StatusResponse: Encodable {
    struct Group: Encodable {
        let subscriptionGroupIdentifier: String
        let lastTransactions: [Item]
    }

    struct Item: Encodable {
        let originalTransactionId: String
        let status: Int
        let signedTransactionInfo: String
        let signedRenewalInfo: String
    }

    let environment: String
    let bundleId: String
    let appAppleId: Int64?
    let data: [Group]
}

/// The API's errors, with Apple's codes (App Store Server API, "Error codes").
struct APIFault: Error, Equatable {
    let status: Int
    let code: Int
    let message: String

    var reply: Reply { Reply(status: status, json: Body(errorCode: code, errorMessage: message)) }

    static let badRequest = APIFault(status: 400, code: 4_000_000, message: "Bad request.")
    static let transactionId = APIFault(status: 400, code: 4_000_006, message: "Invalid transaction id.")
    static let tooFarInPast = APIFault(
        status: 400, code: 4_000_012, message: "The start date is earlier than the earliest allowed date.")
    static let startAfterEnd = APIFault(
        status: 400, code: 4_000_013, message: "The end date precedes the start date, or they are equal.")
    static let paginationToken = APIFault(status: 400, code: 4_000_014, message: "Invalid pagination token.")
    static let startDate = APIFault(status: 400, code: 4_000_015, message: "Invalid start date.")
    static let endDate = APIFault(status: 400, code: 4_000_016, message: "Invalid end date.")
    static let notificationType = APIFault(
        status: 400, code: 4_000_018, message: "Invalid notification type or subtype.")
    static let multipleFilters = APIFault(
        status: 400, code: 4_000_019, message: "Supply either a transaction id or a notification type, not both.")
    static let subscriptionStatus = APIFault(status: 400, code: 4_000_031, message: "Invalid status.")
    static let notFound = APIFault(status: 404, code: 4_040_010, message: "Transaction id not found.")
    static let rateLimit = APIFault(status: 429, code: 4_290_000, message: "Rate limit exceeded.")
    static let internalError = APIFault(status: 500, code: 5_000_000, message: "An unknown error occurred.")

    private struct Body: Encodable {
        let errorCode: Int
        let errorMessage: String
    }
}

/// One call of the log. Holds no token.
struct LoggedAPICall: Sendable, Encodable {
    private static let longestText = 4_096

    let sequence: Int
    /// In milliseconds since 1970.
    let at: Int64
    let method: String
    let path: String
    let query: String?
    let body: String?
    let authorized: Bool
    let outcome: CallOutcome
    /// nil if it was not answered.
    let status: Int?

    init(
        _ sequence: Int, _ call: Call, authorized: Bool, _ ending: (outcome: CallOutcome, status: Int?), at now: Date
    ) {
        let token = call.bearerToken ?? call.authorization ?? ""
        func shown(_ text: String) -> String {
            // The token is removed wherever a client puts it. A short text is not a token and may be part of any other.
            String((token.utf8.count < 16 ? text : text.replacing(token, with: "[token]")).prefix(Self.longestText))
        }
        // An OCSP request is not text.
        let body = SimulatedServerAPI.isOCSP(call) ? nil : call.body
        let text = body.flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
        self.sequence = sequence
        at = now.wholeMilliseconds
        method = call.method
        path = shown(call.path)
        query = call.query.map(shown)
        self.body = text.map(shown)
        self.authorized = authorized
        outcome = ending.outcome
        status = ending.status
    }
}
