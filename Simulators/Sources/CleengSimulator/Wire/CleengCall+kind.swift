extension CleengCall {
    /// Calls are told apart by which troubles befall them.
    enum Kind: Sendable {
        case payment
        /// StoreKit 2: registers a purchase.
        case registration
        /// StoreKit 2: asks that a purchase be moved to another customer.
        case transferRequest
        /// Asks what a customer is entitled to.
        case read
        /// StoreKit 2: asks what has become of a registration or a transfer.
        case synchronizationRead
        case notification
        /// Befallen by nothing but what befalls everything.
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
