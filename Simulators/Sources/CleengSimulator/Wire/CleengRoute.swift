/// The addresses of the simulated Cleeng.
enum CleengRoute: Equatable {
    /// A purchase of one of the stores.
    case payment(PaymentGateway)
    case entitlements
    case entitlement(customerId: String, offerId: String)
    case customer(id: String)
    case remoteProcedures
    /// What the App Store says of a purchase, passed on.
    case notification
    /// StoreKit 2: a purchase is registered, or moved to another customer.
    case synchronize(Synchronization.Kind)
    /// What has become of that.
    case synchronization(id: String)

    /// - Parameter segments: the decoded parts of the path.
    init?(segments: [String]) {
        switch segments.count {
        case 2 where segments[1] == "payment":
            guard let gateway = PaymentGateway(rawValue: segments[0]) else { return nil }
            self = .payment(gateway)
        case 2 where segments == ["3.1", "entitlements"]: self = .entitlements
        case 2 where segments == ["3.0", "json-rpc"]: self = .remoteProcedures
        case 3 where segments == ["api", "3.0", "json-rpc"]: self = .remoteProcedures
        case 2 where segments == ["storekit2", "purchases"]: self = .synchronize(.registration)
        case 3 where segments == ["storekit2", "purchases", "transfers"]: self = .synchronize(.transfer)
        case 4 where segments[..<3] == ["storekit2", "purchases", "synchronizations"]:
            self = .synchronization(id: segments[3])
        case 3 where segments[0] == "3.1" && segments[1] == "customers": self = .customer(id: segments[2])
        case 6 where segments[..<3] == ["3.1", "entitlements", "customer_id"] && segments[4] == "offer_id":
            self = .entitlement(customerId: segments[3], offerId: segments[5])
        case 6 where segments.starts(with: Self.notificationPath) && Self.isPublisherId(segments[5]):
            self = .notification
        default: return nil
        }
    }

    /// The one method that the address takes.
    var method: String {
        switch self {
        case .payment, .remoteProcedures, .notification, .synchronize: "POST"
        case .entitlements, .entitlement, .customer, .synchronization: "GET"
        }
    }

    /// Whether `X-Publisher-Token` must be there. JSON-RPC has the token in the body, and a notification goes without:
    /// the publisher is named in its address.
    var needsToken: Bool {
        switch self {
        case .payment, .entitlements, .entitlement, .customer, .synchronize, .synchronization: true
        case .remoteProcedures, .notification: false
        }
    }

    /// Before the publisher's id.
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
