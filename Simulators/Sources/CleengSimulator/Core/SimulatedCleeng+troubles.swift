extension SimulatedCleeng {
    /// Takes what befalls the next call of everybody: what is meant for every call before what is meant for this kind.
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

    /// Takes what befalls the next call of this kind that is about a customer.
    mutating func trouble(
        of email: CustomerEmail, for kind: CleengCall.Kind
    ) -> (delayMilliseconds: Int64, trouble: Trouble?) {
        switch kind {
        case .payment, .registration, .transferRequest:
            return customers[email]?.behaviour.payment.next() ?? (0, nil)
        case .read, .synchronizationRead: return customers[email]?.behaviour.read.next() ?? (0, nil)
        case .notification: return customers[email]?.behaviour.notification.next() ?? (0, nil)
        case .other: return (0, nil)
        }
    }

    /// The answer of a trouble that is a status.
    func reply(_ status: Int, _ hint: RetryHint?) -> Reply {
        let reply = Reply(.simulated(status))
        return switch hint {
        case .seconds: reply.with(header: "Retry-After", "1")
        case .date: reply.with(header: "Retry-After", now.adding(milliseconds: 1_000).httpDate)
        case .bare, nil: reply
        }
    }
}
