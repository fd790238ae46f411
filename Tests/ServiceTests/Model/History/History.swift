import RelayCore

extension Model {
    /// Observations of one sequence, and the state of the database and the simulator at its end.
    struct History: Sendable {
        var pace = Pace()
        var posts: [Post] = []
        var sightings: [Sighting] = []
        var misses: [Miss] = []
        var acts: [Act] = []
        var copies: [Copy] = []
        var freezes: [Freeze] = []
        /// Payment calls in the order in which the simulator received them.
        var forwards: [Forward] = []
        var reads: [Read] = []
        /// The simulator's grants, in order.
        var grants: [Grant] = []
        var rows: [Row] = []
        /// Events of all timelines; those of one validation are in order.
        var events: [Event] = []
        var owners: [Owner] = []
        var transfers: [Transfer] = []
        /// Longest delay of this process, and so of the machine.
        var stall: Seconds = 0
    }

    struct Pace: Sendable {
        var interval: Seconds = 0.3
        var timeout: Seconds = 2.5
        /// How much later than another copy's settlement a poll may report it. The change feed is read every 0.25 s;
        /// the rest is for a slow machine.
        var lag: Seconds = 1
    }

    struct Post: Sendable {
        enum Answer: Sendable, Equatable {
            /// 202, or 200 if the validation is settled already.
            case accepted(id: String, status: Int)
            /// 422 `idempotency_key_reused`.
            case keyReused
            case other(Int)
            case none
        }

        var purchase: Purchase
        /// Coupon of this post alone. The validation that the post made, and each of its forwards, carry it.
        var coupon: String
        var key: Int?
        var copy: Int32
        var sentAt: Seconds
        var answeredAt: Seconds
        var answer: Answer
    }

    /// A validation's status as one client saw it.
    struct Sighting: Sendable {
        enum Kind: String, Sendable { case plain, conditional, held, stream, post }

        var id: String
        var client: String
        var copy: Int32
        var kind: Kind
        var sentAt: Seconds
        var at: Seconds
        var status: ValidationStatus
        var reason: String?
        var deadline: Seconds?
    }

    /// A poll without a usable answer.
    struct Miss: Sendable {
        var id: String
        var copy: Int32
        var sentAt: Seconds
        var at: Seconds
        /// `nil` if there was no answer.
        var status: Int?
    }

    struct Act: Sendable {
        enum Kind: String, Sendable { case retry, abandon }

        var kind: Kind
        var id: String
        var copy: Int32
        var sentAt: Seconds
        var at: Seconds
        var status: Int?
    }

    /// A process of the relay.
    struct Copy: Sendable {
        var pid: Int32
        var slot: Int
        var readyAt: Seconds
        /// Time of its SIGTERM or SIGKILL.
        var goneAt: Seconds?
    }

    /// An interval in which a copy was stopped.
    struct Freeze: Sendable {
        var pid: Int32
        var from: Seconds
        var to: Seconds
    }
}
