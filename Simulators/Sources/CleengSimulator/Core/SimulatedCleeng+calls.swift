import SimulatorKit

/// A call in progress.
struct CallTicket: Sendable {
    /// Calls from before a reset are ignored after it.
    let generation: Int
    /// Its number in the log.
    let sequence: Int
    let kind: CleengCall.Kind
    let forward: Forward?
}

extension SimulatedCleeng {
    /// Receives one request to the simulated Cleeng and decides its outcome. Call ``advance(to:)`` before.
    mutating func begin(_ call: CleengCall) -> Verdict<CallTicket> {
        var forward: Forward?
        var email: EmailAddress?
        switch call.operation {
        case .payment(let payment):
            forward = Forward(payment)
            email = payment.email
        case .synchronize(let request):
            forward = Forward(
                request, originalTransactionId: transaction(request.transactionId).originalTransactionId)
            email = emailsById[request.customerId]
        case .synchronization(_, let id): email = synchronizations[id]?.email
        case .listEntitlements(let query):
            switch query.subject {
            case .email(let named): email = named
            case .id(let id): email = emailsById[id]
            }
        case .entitlement(let id, _), .customer(let id): email = emailsById[id]
        case .remoteProcedures(let batch): email = owner(of: batch)
        case .notification(let notice):
            if let key = notice.originalTransactionId { email = subscriptions[key]?.owner?.email }
        case .refused: break
        }
        let sequence = log(call, email: email, forward: forward)
        let (delay, ending) = decide(call, email: email)
        let ticket = CallTicket(generation: generation, sequence: sequence, kind: call.kind, forward: forward)
        return Verdict(ticket, delayMilliseconds: delay, ending)
    }

    /// Records the outcome of a request.
    mutating func end(_ ticket: CallTicket, outcome: CallOutcome, status: Int?, at moment: SimulatedTime) {
        guard ticket.generation == generation else { return }
        if let forward = ticket.forward {
            forwards.end(ticket.sequence, of: forward, at: moment)
            counters.noteOutcome(status.map(String.init) ?? outcome.rawValue, of: ticket.kind)
        }
        requests.change(ticket.sequence) { entry in
            entry.endedAt = moment
            entry.status = status
            entry.outcome = outcome
        }
    }

    private mutating func log(_ call: CleengCall, email: EmailAddress?, forward: Forward?) -> Int {
        let sequence = requests.add { number in
            LoggedRequest(
                sequence: number, method: call.method, path: call.path, query: call.query.bounded,
                headers: call.headers,
                token: call.token, body: call.shownBody, bodyBytes: call.bodyBytes, bodyDigest: call.bodyDigest,
                notice: call.notice, customerEmail: email, startedAt: call.startedAt,
                overlapped: forward.map { _ in false }, forward: forward)
        }
        guard let forward else { return sequence }
        let overlapping = forwards.begin(sequence, of: forward, startedAt: call.startedAt)
        guard !overlapping.isEmpty else { return sequence }
        for other in overlapping.union([sequence]) {
            var isNew = false
            requests.change(other) { entry in
                isNew = entry.overlapped == false
                entry.overlapped = true
            }
            if isNew { counters.overlappingForwards += 1 }
        }
        return sequence
    }

    private mutating func decide(_ call: CleengCall, email: EmailAddress?) -> (Int64, Ending) {
        if let email { ensureCustomer(email) }
        count(call, email)
        var (delay, trouble) = upstreamTrouble(for: call.kind)
        if let fault = refusal(of: call), trouble == nil || trouble?.takesEffect == true {
            return (delay, .answer(Reply(fault.fault).with(header: "Allow", fault.allow)))
        }
        if trouble == nil, let email, customers[email] != nil {
            let next = self.trouble(of: email, for: call.kind)
            (delay, trouble) = (delay + next.delayMilliseconds, next.trouble)
        }
        let ending = Ending(trouble, at: now.date) {
            Reply(.simulated($0))
        } answer: {
            process(call)
        }
        return (delay, ending)
    }

    private func refusal(of call: CleengCall) -> (fault: WireFault, allow: String?)? {
        if case .refused(let fault, let allow) = call.operation, fault.status != 400 { return (fault, allow) }
        switch call.token {
        case .absent where call.needsToken: return (.tokenMissing, nil)
        case .wrong where call.needsToken: return (.tokenInvalid, nil)
        case .absent, .wrong, .present: break
        }
        if case .refused(let fault, let allow) = call.operation { return (fault, allow) }
        return nil
    }

    private mutating func process(_ call: CleengCall) -> Reply {
        switch call.operation {
        case .payment(let payment):
            accept(payment)
            return Reply(
                json: AnyJSON.object([
                    "success": .bool(true), "message": .string("Receipt received, validation in progress"),
                ]))
        case .listEntitlements(let query): return listEntitlements(query)
        case .entitlement(let id, let offer): return entitlement(customerId: id, offer)
        case .customer(let id): return customer(id: id)
        case .remoteProcedures(let batch): return remoteProcedures(batch)
        case .notification(let notice):
            apply(notice)
            return Reply(json: ["success": true])
        case .synchronize(let request): return synchronize(request)
        case .synchronization(let connector, let id): return synchronization(connector, id: id)
        case .refused(let fault, _): return Reply(fault)
        }
    }
}

extension SimulatedCleeng {
    /// Takes the upstream trouble of the next call: trouble for every call before trouble for this kind.
    mutating func upstreamTrouble(
        for kind: CleengCall.Kind
    ) -> (delayMilliseconds: Int64, trouble: Trouble?) {
        let (delay, trouble) = upstream.payment.next()
        let own: (delayMilliseconds: Int64, trouble: Trouble?) =
            switch kind {
            case .read, .synchronizationRead: upstream.read.next()
            case .notification: upstream.notification.next()
            case .payment, .registration, .transferRequest, .other: (0, nil)
            }
        return (delay + own.delayMilliseconds, trouble ?? own.trouble)
    }

    /// Takes the trouble of a customer's next call of this kind.
    mutating func trouble(
        of email: EmailAddress, for kind: CleengCall.Kind
    ) -> (delayMilliseconds: Int64, trouble: Trouble?) {
        switch kind {
        case .payment, .registration, .transferRequest:
            return customers[email]?.behaviour.payment.next() ?? (0, nil)
        case .read, .synchronizationRead: return customers[email]?.behaviour.read.next() ?? (0, nil)
        case .notification: return customers[email]?.behaviour.notification.next() ?? (0, nil)
        case .other: return (0, nil)
        }
    }
}
