/// An address of the Play Developer API.
struct GoogleAddress: Sendable {
    enum PurchaseType: Sendable { case subscription, product }

    enum Target: Sendable {
        case subscription(token: String)
        case product(String, token: String)
        case acknowledgement(PurchaseType, product: String, token: String)
        case voided
    }

    let package: String
    let target: Target

    private static let acknowledge = ":acknowledge"

    /// - Parameter segments: the path, such as `androidpublisher/v3/applications/{package}/purchases/voidedpurchases`.
    /// - Returns: nil for an address that does not exist.
    init?(_ segments: [String]) {
        guard segments.count >= 6, segments[..<3] == ["androidpublisher", "v3", "applications"],
            segments[4] == "purchases"
        else { return nil }
        let rest = segments[5...]
        switch (segments[5], rest.count) {
        case ("voidedpurchases", 1): target = .voided
        case ("subscriptionsv2", 3) where segments[6] == "tokens": target = .subscription(token: segments[7])
        case (let collection, 4) where segments[7] == "tokens":
            let (product, last) = (segments[6], segments[8])
            let isAcknowledgement = last.hasSuffix(Self.acknowledge)
            let token = isAcknowledgement ? String(last.dropLast(Self.acknowledge.count)) : last
            switch collection {
            case "subscriptions" where isAcknowledgement:
                target = .acknowledgement(.subscription, product: product, token: token)
            case "products" where isAcknowledgement:
                target = .acknowledgement(.product, product: product, token: token)
            case "products": target = .product(product, token: token)
            default: return nil
            }
        default: return nil
        }
        package = segments[3]
    }

    var method: String {
        if case .acknowledgement = target { "POST" } else { "GET" }
    }
}
