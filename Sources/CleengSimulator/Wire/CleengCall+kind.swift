extension CleengCall {
    /// Calls are told apart by which troubles befall them.
    enum Kind: Sendable {
        case payment
        /// Asks what a customer is entitled to.
        case read
        case notification
        /// Befallen by nothing but what befalls everything.
        case other
    }

    var kind: Kind {
        switch operation {
        case .payment: .payment
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
