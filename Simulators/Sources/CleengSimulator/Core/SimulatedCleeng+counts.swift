extension SimulatedCleeng {
    /// Counts a call, whatever is going to become of it.
    mutating func count(_ call: CleengCall, _ email: CustomerEmail?) {
        switch call.kind {
        case .payment:
            counters.payments += 1
            guard let email else { return }
            customers[email]?.paymentsReceived += 1
            customers[email]?.reads.notePayment()
        case .registration:
            counters.registrations += 1
            if let email { customers[email]?.reads.notePayment() }
        case .transferRequest:
            counters.transferRequests += 1
            if let email { customers[email]?.reads.notePayment() }
        case .read:
            counters.reads += 1
            guard let email, let gap = customers[email]?.reads.noteRead(at: call.startedAt) else { return }
            counters.noteGap(gap, of: email)
        case .synchronizationRead: counters.synchronizationReads += 1
        case .notification: counters.notifications += 1
        case .other: break
        }
    }
}
