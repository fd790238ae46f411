/// The addresses of the simulated Cleeng.
enum CleengRoute: Equatable {
    case payment
    case entitlements
    case entitlement(customerId: String, offerId: String)
    case customer(id: String)
    case remoteProcedures

    /// - Parameter segments: the decoded parts of the path.
    init?(segments: [String]) {
        switch segments.count {
        case 2 where segments == ["apple", "payment"]: self = .payment
        case 2 where segments == ["3.1", "entitlements"]: self = .entitlements
        case 2 where segments == ["3.0", "json-rpc"]: self = .remoteProcedures
        case 3 where segments == ["api", "3.0", "json-rpc"]: self = .remoteProcedures
        case 3 where segments[0] == "3.1" && segments[1] == "customers": self = .customer(id: segments[2])
        case 6 where segments[..<3] == ["3.1", "entitlements", "customer_id"] && segments[4] == "offer_id":
            self = .entitlement(customerId: segments[3], offerId: segments[5])
        default: return nil
        }
    }

    /// The one method that the address takes.
    var method: String {
        switch self {
        case .payment, .remoteProcedures: "POST"
        case .entitlements, .entitlement, .customer: "GET"
        }
    }
}
