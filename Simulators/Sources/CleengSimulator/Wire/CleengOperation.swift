/// What a request to the simulated Cleeng asks for.
enum CleengOperation: Sendable {
    case payment(Payment)
    case listEntitlements(EntitlementQuery)
    case entitlement(customerId: Int, OfferId)
    case customer(id: Int)
    case remoteProcedures(RemoteProcedureBatch)
    case notification(StoreNotice)
    case synchronize(SynchronizationRequest)
    case synchronization(id: String)
    case refused(WireFault, allow: String?)
}
