extension SimulatedCleeng {
    /// `POST /storekit2/purchases` and `…/transfers`: 202 `{"synchronizationId"}`. What comes of it shows later.
    mutating func synchronize(_ request: SynchronizationRequest) -> Reply {
        let customer: Customer
        do throws(WireFault) {
            customer = try admit(request)
        } catch {
            return Reply(error)
        }
        let email = customer.email
        customers[email]?.synchronizationsAccepted += 1
        if let address = request.ipAddress { customers[email]?.lastAddress = address }
        let synchronization = Synchronization(
            id: request.id ?? synchronizations.makeId(), sequence: makeGrantSequence(), kind: request.kind,
            transactionId: request.transactionId, email: email, customerId: customer.id,
            behaviour: customer.behaviour)
        synchronizations.add(synchronization)
        switch customer.behaviour.grant ?? standard.grant {
        case .never: break
        case .after(let delay): settle(synchronization, afterMilliseconds: delay)
        case nil: settle(synchronization, afterMilliseconds: settings.grantAfterMilliseconds)
        }
        return Reply(status: 202, json: ["synchronizationId": synchronization.id])
    }

    /// `GET /storekit2/purchases/synchronizations/{id}`.
    func synchronization(id: String) -> Reply {
        guard let synchronization = synchronizations[id] else { return Reply(.synchronizationNotFound) }
        guard let outcome = synchronization.outcome else {
            return Reply(json: ["status": synchronization.behaviour.storeKit2.retries ? "retrying" : "processing"])
        }
        return Reply(
            json: JSONValue.object([
                "status": .string("finalized"), "result": .string(outcome.result.rawValue),
                "accessGranted": .bool(outcome.accessGranted), "offerId": .string(outcome.offerId.text),
            ]))
    }

    /// What was told of a transaction. One that nobody told of is its own original, and of the offer that its
    /// subscription has already.
    func transaction(_ id: String) -> StoreTransaction {
        transactions[id]
            ?? StoreTransaction(
                originalTransactionId: id, offerId: subscriptions[id]?.owner?.offerId ?? settings.storeKit2Offer,
                expiresAt: nil)
    }

    /// - Returns: to whom the purchase is to belong.
    private func admit(_ request: SynchronizationRequest) throws(WireFault) -> Customer {
        let customer = known(request.customerId)
        let manners = [upstream.storeKit2, customer?.behaviour.storeKit2].compactMap { $0 }
        if manners.contains(where: \.isInactive) { throw .storeKit2Inactive }
        guard let customer else { throw .purchaserNotFound }
        if request.kind == .transfer, manners.contains(where: \.isMigrating) { throw .migrating }
        guard !synchronizations.isLocked(request.transactionId, id: request.id) else { throw .locked(request.kind) }
        return customer
    }

    private mutating func settle(_ synchronization: Synchronization, afterMilliseconds delay: Int64) {
        settlements.add(Settlement(dueAt: now.adding(milliseconds: delay), synchronization: synchronization))
        // A delay of nothing is due at once.
        advance(to: now)
    }
}

extension WireFault {
    fileprivate static let synchronizationNotFound = WireFault(
        status: 404, code: "REQ0100", message: "Synchronization not found")
    fileprivate static let storeKit2Inactive = WireFault(
        status: 500, code: "SK2C0004", message: "StoreKit2 integration not activated")
    fileprivate static let migrating = WireFault(
        status: 422, code: "SK2C0005", message: "The migration is in progress")
    fileprivate static let purchaserNotFound = WireFault(
        status: 422, code: "SK2C0100", message: "Unable to find customer")

    fileprivate static func locked(_ kind: Synchronization.Kind) -> WireFault {
        WireFault(
            status: 409, code: kind == .registration ? "SK2C0101" : "SK2C0103",
            message: "The resource is temporarily locked due to a concurrent request")
    }
}
