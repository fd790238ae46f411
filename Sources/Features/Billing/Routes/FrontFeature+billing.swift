import Relay
import RelayCore

extension FrontFeature {
    /// Checks, orders and contracts, for publishers' billing systems.
    static let billing = FrontFeature(
        routes: { parts in
            let billing = BillingContext(parts: parts)
            return TokenRoutes(parts: parts).routes + CheckRoutes(billing: billing).routes
                + OrderRoutes(billing: billing).routes + ContractRoutes(billing: billing).routes
                + BillingWebhookRoutes(billing: billing).routes
        }, dialects: [.billwerk, .oauth], foldedPaths: ["/api/v1", "/oauth/token"], pages: [.orders])
}

extension OpsPage {
    static let orders = OpsPage(
        "orders", "Orders", lead: "Newest first, of one publisher.", empty: "This publisher has placed no order."
    ) { asked, store in
        let after = asked.cursor.flatMap { BillingID($0) }
        let (items, next) = try await store.orders.newest(of: asked.publisher, after: after, in: asked.scope)
        return (items, next?.description)
    }
}

extension BillingOrder: Viewed {
    static let fields: [Field<BillingOrder>] = [
        Field("id", "Order") { "\($0.id)" },
        Field("state", "State") { $0.state.name },
        Field("type", "Type") { $0.type.name },
        Field("createdAt", "Made") { $0.createdAt },
        Field("completedAt", "Completed") { $0.completedAt },
        Field("platform", "Store") { $0.platform.rawValue },
        Field("productId", "Product") { $0.productID },
        Field("customer", "Customer") { "\($0.customer)" },
        Field("contract", "Contract") { "\($0.contract)" },
    ]
}
