import Foundation
import SimulatorKit

extension SimulatedCleeng {
    /// `POST /storekit2/purchases`, `/google/purchases`, and their `…/transfers`: 202 `{"synchronizationId"}`. The
    /// result follows later.
    mutating func synchronize(_ request: SynchronizationRequest) -> Reply {
        let customer: Customer
        do throws(WireFault) {
            customer = try admit(request)
        } catch {
            return Reply(error)
        }
        if let existing = synchronizations.existing(request) { return repeated(existing, request, customer) }
        let email = customer.email
        customers[email]?.synchronizationsAccepted += 1
        if let address = request.ipAddress { customers[email]?.lastAddress = address }
        let named = customer.behaviour.of(request.connector).makesIds ? nil : request.id
        let synchronization = Synchronization(
            id: named ?? synchronizations.makeId(), sequence: makeGrantSequence(), kind: request.kind,
            connector: request.connector, transactionId: request.transactionId, packageName: request.packageName,
            email: email, customerId: customer.id, behaviour: customer.behaviour)
        synchronizations.add(synchronization)
        switch customer.behaviour.grant ?? standard.grant {
        case .never: break
        case .after(let delay): settle(synchronization, afterMilliseconds: delay)
        case nil: settle(synchronization, afterMilliseconds: settings.grantAfterMilliseconds)
        }
        return Reply(status: 202, json: ["synchronizationId": synchronization.id])
    }

    /// `GET /storekit2/purchases/synchronizations/{id}`, `/google/purchases/synchronizations/{id}`.
    func synchronization(_ connector: Connector, id: String) -> Reply {
        guard let synchronization = synchronizations[id], synchronization.connector == connector else {
            return Reply(.synchronizationNotFound)
        }
        return Reply(json: AnyJSON.object(synchronization.state))
    }

    /// Google's connector makes a single synchronization for a purchase token, for all customers.
    private func repeated(
        _ existing: Synchronization, _ request: SynchronizationRequest, _ customer: Customer
    ) -> Reply {
        let name = ["synchronizationId": AnyJSON.string(existing.id)]
        if customer.behaviour.google.answersRepeats, request.kind == .registration {
            return Reply(json: AnyJSON.object(existing.state.merging(name) { $1 }))
        }
        let fault = WireFault.locked(request)
        return Reply(
            status: fault.status,
            json: AnyJSON.object(
                ["code": .string(fault.code), "message": .string("A synchronization of it exists")].merging(name) { $1 }
            ))
    }

    /// The control API's data on a transaction or purchase token. An unknown one is its own original, with the present
    /// offer of its subscription.
    func transaction(_ id: String) -> StoreTransaction {
        transactions[id]
            ?? StoreTransaction(
                originalTransactionId: id, offerId: subscriptions[id]?.owner?.offerId ?? settings.storeKit2Offer,
                expiresAt: nil)
    }

    /// - Returns: the customer to whom the purchase shall belong.
    private func admit(_ request: SynchronizationRequest) throws(WireFault) -> Customer {
        let customer = known(request.customerId)
        let connector = request.connector
        let behaviours = [upstream, customer?.behaviour].compactMap { $0?.of(connector) }
        if behaviours.contains(where: \.isInactive) { throw .inactive(connector) }
        guard let customer else { throw .purchaserNotFound(connector) }
        if request.kind == .transfer, behaviours.contains(where: \.isMigrating) { throw .migrating(connector) }
        if synchronizations.existing(request) != nil { return customer }
        guard !synchronizations.isLocked(request.transactionId, id: request.id) else { throw .locked(request) }
        return customer
    }

    private mutating func settle(_ synchronization: Synchronization, afterMilliseconds delay: Int64) {
        settlements.add(
            PendingSynchronization(dueAt: now.adding(milliseconds: delay), synchronization: synchronization))
        // With zero delay, the result is due at once.
        advance(to: now)
    }
}

extension WireFault {
    fileprivate static let synchronizationNotFound = WireFault(
        status: 404, code: "REQ0100", message: "Synchronization not found")

    fileprivate static func inactive(_ connector: Connector) -> WireFault {
        let name = connector == .storekit2 ? "StoreKit2" : "Google Play Billing V2"
        return WireFault(status: 500, code: connector.codePrefix + "0004", message: "\(name) integration not activated")
    }

    fileprivate static func migrating(_ connector: Connector) -> WireFault {
        WireFault(status: 422, code: connector.codePrefix + "0005", message: "The migration is in progress")
    }

    fileprivate static func purchaserNotFound(_ connector: Connector) -> WireFault {
        WireFault(status: 422, code: connector.codePrefix + "0100", message: "Unable to find customer")
    }

    fileprivate static func locked(_ request: SynchronizationRequest) -> WireFault {
        WireFault(
            status: 409, code: request.connector.codePrefix + (request.kind == .registration ? "0101" : "0103"),
            message: "The resource is temporarily locked due to a concurrent request")
    }
}

extension SimulatedCleeng {
    /// Finalizes due synchronizations in order, up to a time, or up to a number at that time.
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
            case .registered: registered(transaction, synchronization, at: moment)
            case .transferred: owner.map { moved($0, transaction, synchronization.connector, at: moment) }
            case .unchanged, .expired, .transactionNotFound, .tokenNotFound: nil
            }
        let outcome = Synchronization.Outcome(
            result: result, accessGranted: accessGranted, offerId: entitlement?.offerId ?? transaction.offerId,
            originalTransactionId: key)
        synchronizations.finish(synchronization, outcome)
        publish(synchronization, outcome)
        if var entitlement {
            let lag = synchronization.behaviour.of(synchronization.connector).lagMilliseconds
            entitlement.shownAt = moment.adding(milliseconds: lag)
            establish(entitlement, for: synchronization.email, by: .synchronization)
        }
    }

    private mutating func registered(
        _ transaction: StoreTransaction, _ synchronization: Synchronization, at moment: SimulatedTime
    ) -> Entitlement {
        let behaviour = synchronization.behaviour
        let end = behaviour.expired ? nil : transaction.expiresAt
        return Entitlement(
            subscriptionId: makeSubscriptionId(), originalTransactionId: transaction.originalTransactionId,
            offerId: transaction.offerId, status: behaviour.status, grantedAt: moment,
            expiresAt: end ?? expiry(expired: behaviour.expired, from: moment),
            appType: synchronization.connector.appType)
    }

    /// The owner's entitlement, in the form for the new owner.
    private mutating func moved(
        _ owner: Subscription.Owner, _ transaction: StoreTransaction, _ connector: Connector, at moment: SimulatedTime
    ) -> Entitlement {
        let held = customers[owner.email]?.entitlements.last { $0.subscriptionId == owner.subscriptionId }
        return Entitlement(
            subscriptionId: makeSubscriptionId(), originalTransactionId: transaction.originalTransactionId,
            offerId: owner.offerId, status: owner.status, grantedAt: moment,
            expiresAt: held?.expiresAt ?? expiry(expired: false, from: moment),
            appType: held?.appType ?? connector.appType)
    }

    /// Publishes the result of a synchronization.
    private mutating func publish(_ synchronization: Synchronization, _ outcome: Synchronization.Outcome) {
        let purchase: [String: AnyJSON] =
            switch synchronization.connector {
            case .storekit2:
                [
                    "transactionId": .string(synchronization.transactionId),
                    "originalTransactionId": .string(outcome.originalTransactionId),
                ]
            case .google:
                [
                    "purchaseToken": .string(synchronization.transactionId),
                    "packageName": .optional(synchronization.packageName),
                ]
            }
        publish(
            .synchronizationResult,
            purchase.merging([
                "synchronizationId": .string(synchronization.id),
                "cleengCustomerId": .int(Int64(synchronization.customerId)),
                "accessGranted": .bool(outcome.accessGranted), "offerId": .string(outcome.offerId.text),
                "result": .string(outcome.result.rawValue),
            ]) { $1 }, of: synchronization.email, causedBy: synchronization.email)
    }
}
