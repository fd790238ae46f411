import RelayCore

extension Model {
    struct Forward: Sendable {
        var coupon: String
        var customer: Int
        var subscription: Int
        var startedAt: Seconds
        var endedAt: Seconds?
        var status: Int?
        var outcome: String
        /// Whether another call for this purchase or subscription ran at the same time.
        var overlapped: Bool

        /// Whether Cleeng processed it, even if the answer was lost.
        var isProcessed: Bool { status == 200 || outcome == "lost-answer" }
        var isRejected: Bool { status == 400 || status == 422 }
    }

    struct Read: Sendable {
        var customer: Int
        var startedAt: Seconds
        var endedAt: Seconds?
    }

    struct Grant: Sendable {
        var at: Seconds
        var subscription: Int
        var customer: Int
    }

    /// A row of `validations`.
    struct Row: Sendable {
        var id: String
        var purchase: Purchase
        var coupon: String
        var acceptedAt: Seconds
        var deadline: Seconds
        var settledAt: Seconds?
        var status: ValidationStatus
        var reason: String?
        var late: Bool = false
        /// Phase of its pursuit; `nil` if no work is left.
        var phase: Pursuit.Phase?
    }

    struct Event: Sendable {
        var id: String
        var kind: TimelineEvent.Kind
        var at: Seconds
        /// Start of the transaction that wrote it.
        var recordedAt: Seconds
    }

    struct Owner: Sendable {
        var subscription: Int
        var customer: Int
        var id: String
    }

    struct Transfer: Sendable {
        var subscription: Int
        var from: Int
        var to: Int
        var fromID: String
        var toID: String
        var at: Seconds
    }
}
