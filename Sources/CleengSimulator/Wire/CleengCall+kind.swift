extension CleengCall {
    /// Whether the request asks what a customer is entitled to.
    var isEntitlementRead: Bool {
        switch operation {
        case .listEntitlements, .entitlement: true
        case .remoteProcedures(let batch): batch.readsEntitlements
        case .payment, .customer, .refused: false
        }
    }
}
