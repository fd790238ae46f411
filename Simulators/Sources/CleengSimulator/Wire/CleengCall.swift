import Foundation
import HTTPTypes
import SimulatorKit

/// A parsed request to the simulated Cleeng: everything that needs no shared state.
struct CleengCall: Sendable {
    let method: String
    let path: String
    let query: FormItems
    /// Headers without the token.
    let headers: [NamedValue]
    let token: TokenPresence
    /// When the head of the request arrived.
    let startedAt: SimulatedTime
    /// Whether it is refused without the publisher's token in a header.
    let needsToken: Bool
    let operation: CleengOperation
    /// The body without receipts and tokens, for the log.
    let shownBody: AnyJSON?
    let bodyBytes: Int
    /// SHA-256 of the body, only for notifications, which must be relayed byte for byte.
    let bodyDigest: String?

    init(_ call: Call, publisherToken: String, identity: ReceiptIdentity) {
        method = call.method
        path = String(call.path.prefix(512))
        query = call.queryItems
        token = TokenPresence(call.headers[.publisherToken], expected: publisherToken)
        headers = Self.shown(call.headers, token)
        startedAt = SimulatedTime(call.startedAt)
        bodyBytes = call.body?.count ?? 0
        let route = CleengRoute(segments: call.segments)
        needsToken = route?.needsToken ?? true
        bodyDigest = route == .notification ? call.body.map { HexDigest.sha256($0) } : nil
        let json = call.body.flatMap { $0.isEmpty ? nil : AnyJSON.parse($0) }
        if let body = call.body {
            operation = Self.operation(
                method, route, query, call.headers[.correlationId], body, json, publisherToken: publisherToken,
                identity: identity)
        } else {
            operation = .refused(.bodyTooLarge, allow: nil)
        }
        let receipt: ReceiptSummary? = if case .payment(let payment) = operation { payment.receipt } else { nil }
        shownBody = json.map { BodyRedaction(receipt: receipt, publisherToken: publisherToken).shown($0) }
    }

    /// Header fields for the log, without secrets.
    private static func shown(_ fields: HTTPFields, _ token: TokenPresence) -> [NamedValue] {
        fields.prefix(32).map { field in
            let value: String =
                switch field.name {
                case .publisherToken: token.rawValue
                case .authorization, .cookie, .proxyAuthorization: TokenPresence.present.rawValue
                default: BodyRedaction.bounded(field.value)
                }
            return NamedValue(name: field.name.canonicalName, value: value)
        }
    }

    private static func operation(
        _ method: String, _ route: CleengRoute?, _ query: FormItems, _ correlationId: String?, _ body: Data,
        _ json: AnyJSON?, publisherToken: String, identity: ReceiptIdentity
    ) -> CleengOperation {
        guard let route else { return .refused(.notFound, allow: nil) }
        guard method == route.method else {
            return .refused(
                WireFault(status: 405, code: "SIM0405", message: "Use \(route.method)"), allow: route.method)
        }
        do throws(WireFault) {
            switch route {
            case .payment(let gateway): return .payment(try Payment(gateway, body: json, identity: identity))
            case .entitlements: return .listEntitlements(try EntitlementQuery(query))
            case .customer(let id): return .customer(id: try customerId(id))
            case .entitlement(let id, let offer):
                guard let offerId = OfferId(offer) else {
                    throw .invalidQuery("Invalid offerId format", fields: ["offer_id"])
                }
                return .entitlement(customerId: try customerId(id), offerId)
            case .remoteProcedures:
                return .remoteProcedures(RemoteProcedureBatch(json, publisherToken: publisherToken))
            case .notification: return .notification(try StoreNotice(body: body))
            case .synchronize(let connector, let kind):
                return .synchronize(
                    try SynchronizationRequest(kind, of: connector, body: json, correlationId: correlationId))
            case .synchronization(let connector, let id): return .synchronization(connector, id: id)
            }
        } catch {
            return .refused(error, allow: nil)
        }
    }

    private static func customerId(_ text: String) throws(WireFault) -> Int {
        guard let id = Int(text), id > 0, text.utf8.count <= 10 else {
            throw .invalidQuery("Invalid customerId format", fields: ["customer_id"])
        }
        return id
    }
}

/// The operation of a request.
enum CleengOperation: Sendable {
    case payment(Payment)
    case listEntitlements(EntitlementQuery)
    case entitlement(customerId: Int, OfferId)
    case customer(id: Int)
    case remoteProcedures(RemoteProcedureBatch)
    case notification(StoreNotice)
    case synchronize(SynchronizationRequest)
    case synchronization(Connector, id: String)
    case refused(WireFault, allow: String?)
}

/// The addresses of the simulated Cleeng.
enum CleengRoute: Equatable {
    /// A purchase from one of the stores.
    case payment(PaymentGateway)
    case entitlements
    case entitlement(customerId: String, offerId: String)
    case customer(id: String)
    case remoteProcedures
    /// A relayed notification of the App Store.
    case notification
    /// A connector: a purchase is registered, or moved to another customer.
    case synchronize(Connector, Synchronization.Kind)
    /// The result of a registration or transfer.
    case synchronization(Connector, id: String)

    /// - Parameter segments: the decoded parts of the path.
    init?(segments: [String]) {
        switch segments.count {
        case 2 where segments[1] == "payment":
            guard let gateway = PaymentGateway(rawValue: segments[0]) else { return nil }
            self = .payment(gateway)
        case 2 where segments == ["3.1", "entitlements"]: self = .entitlements
        case 2 where segments == ["3.0", "json-rpc"]: self = .remoteProcedures
        case 3 where segments == ["api", "3.0", "json-rpc"]: self = .remoteProcedures
        case 2...4 where segments[1] == "purchases":
            guard let connector = Connector(rawValue: segments[0]) else { return nil }
            switch (segments.count, segments.count > 2 ? segments[2] : nil) {
            case (2, _): self = .synchronize(connector, .registration)
            case (3, "transfers"): self = .synchronize(connector, .transfer)
            case (4, "synchronizations"): self = .synchronization(connector, id: segments[3])
            default: return nil
            }
        case 3 where segments[0] == "3.1" && segments[1] == "customers": self = .customer(id: segments[2])
        case 6 where segments[..<3] == ["3.1", "entitlements", "customer_id"] && segments[4] == "offer_id":
            self = .entitlement(customerId: segments[3], offerId: segments[5])
        case 6 where segments.starts(with: Self.notificationPath) && Self.isPublisherId(segments[5]):
            self = .notification
        default: return nil
        }
    }

    /// The only method that the address allows.
    var method: String {
        switch self {
        case .payment, .remoteProcedures, .notification, .synchronize: "POST"
        case .entitlements, .entitlement, .customer, .synchronization: "GET"
        }
    }

    /// Whether `X-Publisher-Token` is required. JSON-RPC has the token in the body. A notification has none: its
    /// address names the publisher.
    var needsToken: Bool {
        switch self {
        case .payment, .entitlements, .entitlement, .customer, .synchronize, .synchronization: true
        case .remoteProcedures, .notification: false
        }
    }

    /// Path before the publisher's id.
    private static let notificationPath = [
        "1.0", "in_app", "subscriptions", "apple", "status_update_notification",
    ]

    private static func isPublisherId(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "A"..."Z", "a"..."z", "0"..."9", "_", "-": true
                default: false
                }
            }
    }
}

extension CleengCall {
    /// Kinds of calls that can be disturbed separately.
    enum Kind: Sendable {
        case payment
        /// A connector: registers a purchase.
        case registration
        /// A connector: requests a purchase's transfer to another customer.
        case transferRequest
        /// Reads a customer's entitlements.
        case read
        /// A connector: reads the result of a registration or a transfer.
        case synchronizationRead
        case notification
        /// Disturbed only by disturbances of every call.
        case other
    }

    var kind: Kind {
        switch operation {
        case .payment: .payment
        case .synchronize(let request): request.kind == .registration ? .registration : .transferRequest
        case .synchronization: .synchronizationRead
        case .listEntitlements, .entitlement: .read
        case .remoteProcedures(let batch): batch.readsEntitlements ? .read : .other
        case .notification: .notification
        case .customer, .refused: .other
        }
    }

    /// nil for everything but well-formed notifications.
    var notice: StoreNotice? {
        if case .notification(let notice) = operation { notice } else { nil }
    }
}

extension HTTPField.Name {
    /// Both literals are valid field names.
    static let publisherToken = HTTPField.Name("X-Publisher-Token") ?? .authorization
    static let correlationId = HTTPField.Name("Correlation-Id") ?? .authorization
}
