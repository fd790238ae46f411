extension SimulatedCleeng {
    /// Publishes the events of a new subscription: receipt validated, previous subscription ended, this one started.
    mutating func publishNew(
        _ entitlement: Entitlement, of email: EmailAddress, after previous: Subscription.Owner?,
        by origin: SubscriptionOrigin
    ) {
        guard webhooks != nil else { return }
        let running = previous.flatMap { $0.status.entitles ? $0 : nil }
        var result = ValidationResult.created
        if let previous {
            let isSame = previous.email == email && previous.offerId == entitlement.offerId
            if running == nil && isSame { result = .revived }
            if running != nil && previous.email != email { result = .transferred }
        }
        // A grant by the control API has no receipt to validate. A synchronization has an event of its own.
        if origin == .payment {
            publishValidation(
                result, of: email, entitlement.offerId, subscriptionId: entitlement.subscriptionId,
                isActive: entitlement.status.entitles, until: entitlement.expiresAt,
                from: result == .transferred ? running : nil)
        }
        if let running {
            publishEnd(of: running.email, running.offerId, subscriptionId: running.subscriptionId, causedBy: email)
        }
        if entitlement.status.entitles, origin != .payment || result != .revived {
            var data = facts(of: email, entitlement.offerId, subscriptionId: entitlement.subscriptionId, named: true)
            data["expirationDate"] = .string(entitlement.expiresAt.iso8601WithOffset)
            publish(.subscriptionCreated, data, of: email, causedBy: email)
        }
    }

    /// Publishes the end of a subscription.
    /// - Parameter cause: the customer whose behaviour applies to the event.
    mutating func publishEnd(
        of email: EmailAddress, _ offer: OfferId, subscriptionId: Int, causedBy cause: EmailAddress
    ) {
        let data = facts(of: email, offer, subscriptionId: subscriptionId, named: true)
        publish(.subscriptionTerminated, data, of: email, causedBy: cause)
    }

    /// Publishes the refusal of a payment, after its delay. Only topic and envelope of the real event are known, so it
    /// names no cause.
    mutating func publishRefusal(_ payment: Payment, afterMilliseconds delay: Int64) {
        var data = facts(of: payment.email, payment.offerId, subscriptionId: nil, named: false)
        data["paymentGateway"] = .string(PaymentGateway(appType: payment.appType).rawValue)
        publish(.validationFailed, data, of: payment.email, causedBy: payment.email, afterMilliseconds: delay)
    }

    /// Schedules the event of a repeated receipt, not before the first one has been granted.
    mutating func scheduleRepeat(_ payment: Payment, afterMilliseconds delay: Int64) {
        guard webhooks != nil, repeatedReceipts.count < outbox.capacity else { return }
        let granted = subscriptions[payment.subscription]?.pending.max()?.grantAt ?? now
        repeatedReceipts.add(
            RepeatedReceipt(
                sequence: outbox.makeSequence(), dueAt: max(now.adding(milliseconds: delay), granted),
                originalTransactionId: payment.subscription, email: payment.email, offerId: payment.offerId))
    }

    mutating func publishRepeats(until moment: SimulatedTime) {
        while let due = repeatedReceipts.popDue(at: moment) {
            publishRepeat(of: due.email, due.offerId, due.originalTransactionId)
        }
    }

    /// Publishes that a receipt changed nothing; no event if the subscription has a new owner.
    mutating func publishRepeat(of email: EmailAddress, _ offer: OfferId, _ key: String) {
        guard let owner = subscriptions[key]?.owner, owner.email == email, owner.offerId == offer,
            let entitlement = customers[email]?.entitlements.last(where: { $0.subscriptionId == owner.subscriptionId })
        else { return }
        publishValidation(
            .synchronized, of: email, offer, subscriptionId: owner.subscriptionId, isActive: owner.status.entitles,
            until: entitlement.expiresAt, from: nil)
    }

    /// Takes the next event that is due. Call ``advance(to:)`` before.
    mutating func takeWebhook() -> WebhookEvent? { outbox.popDue(at: now) }

    /// Current address for an event; nil if it is no longer to be sent.
    func target(of event: WebhookEvent) -> WebhookTarget? { event.generation == generation ? webhooks : nil }

    mutating func note(_ delivery: WebhookDelivery) {
        guard delivery.event.generation == generation else { return }
        outbox.note(delivery)
    }

    private mutating func publishValidation(
        _ result: ValidationResult, of email: EmailAddress, _ offer: OfferId, subscriptionId: Int, isActive: Bool,
        until end: SimulatedTime, from previous: Subscription.Owner?
    ) {
        var data = facts(of: email, offer, subscriptionId: subscriptionId, named: false)
        data["result"] = .string(result.rawValue)
        data["active"] = .bool(isActive)
        data["inTrial"] = .bool(false)
        data["expirationDate"] = .string(end.iso8601WithOffset)
        if let previous, let customer = customers[previous.email] {
            data["prevCustomerId"] = .int(Int64(customer.id))
            data["prevSubscriptionId"] = .int(Int64(previous.subscriptionId))
        }
        publish(.validationSucceeded, data, of: email, causedBy: email)
    }

    /// Fields about the subscription in every event.
    /// - Parameter named: whether the event may hold the email; a validation's never does.
    private func facts(
        of email: EmailAddress, _ offer: OfferId, subscriptionId: Int?, named: Bool
    ) -> [String: AnyJSON] {
        let entitlement = customers[email]?.entitlements.last { $0.subscriptionId == subscriptionId }
        let gateway = PaymentGateway(appType: entitlement?.appType ?? "")
        var data: [String: AnyJSON] = [
            "paymentGateway": .string(gateway.rawValue), "offerId": .string(offer.text),
            "offerType": .string(offer.typeName),
        ]
        if let customer = customers[email] { data["customerId"] = .int(Int64(customer.id)) }
        if let subscriptionId { data["subscriptionId"] = .int(Int64(subscriptionId)) }
        if named, webhooks?.withEmail == true { data["customerEmail"] = .string(email.text) }
        return data
    }

    /// Queues an event. Does nothing without an address.
    mutating func publish(
        _ topic: WebhookEvent.Topic, _ data: [String: AnyJSON], of email: EmailAddress,
        causedBy cause: EmailAddress, afterMilliseconds delay: Int64 = 0
    ) {
        guard webhooks != nil else { return }
        let behaviour = customers[cause]?.behaviour.webhook ?? WebhookBehaviour()
        guard !behaviour.lost else { return }
        let envelope = AnyJSON.object([
            "broadcasterId": .int(settings.broadcasterId), "topic": .string(topic.rawValue), "data": .object(data),
        ])
        let body = AnyJSON.bytes(of: envelope)
        for _ in 0..<(behaviour.twice ? 2 : 1) {
            outbox.add(
                WebhookEvent(
                    generation: generation, sequence: outbox.makeSequence(),
                    dueAt: now.adding(milliseconds: delay + behaviour.lateMilliseconds), topic: topic, email: email,
                    body: body))
        }
    }
}
