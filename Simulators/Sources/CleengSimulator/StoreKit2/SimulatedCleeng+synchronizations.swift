import Foundation
import SimulatorKit

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
            json: AnyJSON.object([
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
        let behaviours = [upstream.storeKit2, customer?.behaviour.storeKit2].compactMap { $0 }
        if behaviours.contains(where: \.isInactive) { throw .storeKit2Inactive }
        guard let customer else { throw .purchaserNotFound }
        if request.kind == .transfer, behaviours.contains(where: \.isMigrating) { throw .migrating }
        guard !synchronizations.isLocked(request.transactionId, id: request.id) else { throw .locked(request.kind) }
        return customer
    }

    private mutating func settle(_ synchronization: Synchronization, afterMilliseconds delay: Int64) {
        settlements.add(
            PendingSynchronization(dueAt: now.adding(milliseconds: delay), synchronization: synchronization))
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

extension SimulatedCleeng {
    /// Finalizes what is due, in order, as far as it comes before a time, or before a number at that time.
    mutating func settle(before limit: (moment: SimulatedTime, sequence: Int)) {
        while let due = settlements.pop(if: { ($0.dueAt, $0.synchronization.sequence) < limit }) {
            catchUp(to: due.dueAt)
            finalize(due.synchronization, at: due.dueAt)
        }
    }

    private mutating func finalize(_ synchronization: Synchronization, at moment: SimulatedTime) {
        guard customers[synchronization.email] != nil else { return }
        let transaction = transaction(synchronization.transactionId)
        let key = transaction.originalTransactionId
        let owner = subscriptions[key]?.owner
        let (result, accessGranted) = synchronization.result(of: transaction, owner: owner, at: moment)
        let entitlement: Entitlement? =
            switch result {
            case .registered: registered(transaction, synchronization.behaviour, at: moment)
            case .transferred: owner.map { moved($0, transaction, at: moment) }
            case .unchanged, .expired, .transactionNotFound: nil
            }
        let outcome = Synchronization.Outcome(
            result: result, accessGranted: accessGranted, offerId: entitlement?.offerId ?? transaction.offerId,
            originalTransactionId: key)
        synchronizations.finish(synchronization, outcome)
        publish(synchronization, outcome)
        if let entitlement { establish(entitlement, for: synchronization.email, by: .synchronization) }
    }

    private mutating func registered(
        _ transaction: StoreTransaction, _ behaviour: Behaviour, at moment: SimulatedTime
    ) -> Entitlement {
        let end = behaviour.expired ? nil : transaction.expiresAt
        return Entitlement(
            subscriptionId: makeSubscriptionId(), originalTransactionId: transaction.originalTransactionId,
            offerId: transaction.offerId, status: behaviour.status, grantedAt: moment,
            expiresAt: end ?? expiry(expired: behaviour.expired, from: moment), appType: "ios")
    }

    /// What the owner has, as the new owner will have it.
    private mutating func moved(
        _ owner: Subscription.Owner, _ transaction: StoreTransaction, at moment: SimulatedTime
    ) -> Entitlement {
        let held = customers[owner.email]?.entitlements.last { $0.subscriptionId == owner.subscriptionId }
        return Entitlement(
            subscriptionId: makeSubscriptionId(), originalTransactionId: transaction.originalTransactionId,
            offerId: owner.offerId, status: owner.status, grantedAt: moment,
            expiresAt: held?.expiresAt ?? expiry(expired: false, from: moment), appType: held?.appType ?? "ios")
    }

    /// Publishes the result of a synchronization.
    private mutating func publish(_ synchronization: Synchronization, _ outcome: Synchronization.Outcome) {
        publish(
            .synchronizationResult,
            [
                "synchronizationId": .string(synchronization.id),
                "transactionId": .string(synchronization.transactionId),
                "originalTransactionId": .string(outcome.originalTransactionId),
                "cleengCustomerId": .int(Int64(synchronization.customerId)),
                "accessGranted": .bool(outcome.accessGranted), "offerId": .string(outcome.offerId.text),
                "result": .string(outcome.result.rawValue),
            ], of: synchronization.email, causedBy: synchronization.email)
    }
}

/// A well-formed call of `POST /storekit2/purchases` or `POST /storekit2/purchases/transfers`.
struct SynchronizationRequest: Sendable, Equatable {
    let kind: Synchronization.Kind
    let transactionId: String
    /// To whom the purchase is to belong.
    let customerId: Int
    let ipAddress: String?
    /// What the caller calls the synchronization; nil where that is left to Cleeng.
    let id: String?

    /// Reads header and body; of the body it names every wrong field at once.
    init(_ kind: Synchronization.Kind, body: AnyJSON?, correlationId: String?) throws(WireFault) {
        if let correlationId, UUID(uuidString: correlationId) == nil { throw .invalidCorrelationId }
        guard let body, case .object = body else { throw .invalidBody("The body is not a JSON object") }
        var wrong: [String] = []
        let transactionId = body["transactionId"]?.string.flatMap { TransactionIdText.isAcceptable($0) ? $0 : nil }
        if transactionId == nil { wrong.append("transactionId") }
        let customerId = body["cleengCustomerId"]?.integer.flatMap { $0 > 0 ? Int($0) : nil }
        if customerId == nil { wrong.append("cleengCustomerId") }
        switch body["ipAddress"] {
        case nil, .null: ipAddress = nil
        case .string(let text) where IPAddressText.isAcceptable(text): ipAddress = text
        default:
            ipAddress = nil
            wrong.append("ipAddress")
        }
        guard let transactionId, let customerId, wrong.isEmpty else {
            throw .invalidBody("Invalid request body: \(wrong.joined(separator: ", "))", fields: wrong)
        }
        self.kind = kind
        self.transactionId = transactionId
        self.customerId = customerId
        id = correlationId
    }
}

extension WireFault {
    fileprivate static let invalidCorrelationId = WireFault(
        status: 400, code: "REQ0004", message: "Invalid headers: Correlation-Id is not a UUID",
        fields: ["Correlation-Id"])
}
