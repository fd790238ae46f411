/// One customer as the control API shows it.
struct CustomerView: Encodable {
    struct EntitlementView: Encodable {
        let subscriptionId: Int
        let offerId: String
        let status: EntitlementStatus
        let grantedAt: String
        let expiresAt: String
        let originalTransactionId: String
        let replacedBy: Int?
    }

    struct PendingView: Encodable {
        let offerId: String
        let originalTransactionId: String
        let grantAt: String
    }

    let customerEmail: String
    let customerId: Int
    let known: Bool
    let behaviours: [String]
    let behavioursFrom: String
    let entitlements: [EntitlementView]
    let pending: [PendingView]
    let paymentsReceived: Int
    let paymentsAccepted: Int
    let synchronizationsAccepted: Int
    let reads: Int
    let minReadGapMilliseconds: Int64?
    let minPollGapMilliseconds: Int64?

    init(_ customer: Customer, pending: [PendingGrant]) {
        customerEmail = customer.email.text
        customerId = customer.id
        known = customer.isKnown
        behaviours = customer.behaviour.names
        behavioursFrom =
            switch customer.source {
            case .plusTags: "plus tags"
            case .control: "control API"
            case .standard: "default"
            }
        entitlements = customer.entitlements.map { entitlement in
            EntitlementView(
                subscriptionId: entitlement.subscriptionId, offerId: entitlement.offerId.text,
                status: entitlement.status, grantedAt: entitlement.grantedAt.iso8601,
                expiresAt: entitlement.expiresAt.iso8601,
                originalTransactionId: entitlement.originalTransactionId, replacedBy: entitlement.replacedBy)
        }
        self.pending = pending.map { PendingView($0) }
        paymentsReceived = customer.paymentsReceived
        paymentsAccepted = customer.paymentsAccepted
        synchronizationsAccepted = customer.synchronizationsAccepted
        reads = customer.reads.count
        minReadGapMilliseconds = customer.reads.minGapMilliseconds
        minPollGapMilliseconds = customer.reads.minPollGapMilliseconds
    }
}

extension CustomerView.PendingView {
    init(_ grant: PendingGrant) {
        offerId = grant.offerId.text
        originalTransactionId = grant.originalTransactionId
        grantAt = grant.grantAt.iso8601
    }
}
