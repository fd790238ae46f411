import RelayCore

extension Model {
    /// What was seen of one sequence from outside, and what stood in the database and in the simulator at its end.
    struct History: Sendable {
        var pace = Pace()
        var posts: [Post] = []
        var sightings: [Sighting] = []
        var misses: [Miss] = []
        var acts: [Act] = []
        var copies: [Copy] = []
        var freezes: [Freeze] = []
        /// Payment calls as the simulator took them, in order.
        var forwards: [Forward] = []
        var reads: [Read] = []
        /// Whom the simulator granted what, in order.
        var grants: [Grant] = []
        var rows: [Row] = []
        /// The timelines, each in its order.
        var events: [Event] = []
        var owners: [Owner] = []
        var transfers: [Transfer] = []
        /// The longest time for which this process, and so the machine, did not get to what was due.
        var stall: Seconds = 0
    }

    struct Pace: Sendable {
        var interval: Seconds = 0.3
        var timeout: Seconds = 2.5
        /// How far a poll may lag behind what another copy has settled. A tick is 0.25 s; the machine is small.
        var lag: Seconds = 1
    }

    struct Post: Sendable {
        enum Answer: Sendable, Equatable {
            /// 202, or 200 where it is settled already.
            case accepted(id: String, status: Int)
            /// 422 `idempotency_key_reused`.
            case keyReused
            case other(Int)
            case none
        }

        var purchase: Purchase
        /// The coupon tells posts apart upstream: the row of a validation and each of its forwards have that of its post.
        var coupon: String
        var key: Int?
        var copy: Int32
        var sentAt: Seconds
        var answeredAt: Seconds
        var answer: Answer
    }

    /// One client's look at one validation.
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

    /// A poll that was not answered as polls are.
    struct Miss: Sendable {
        var id: String
        var copy: Int32
        var sentAt: Seconds
        var at: Seconds
        /// Nil: no answer at all.
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
        /// When it was told to go, or killed.
        var goneAt: Seconds?
    }

    /// A time for which a copy did not run.
    struct Freeze: Sendable {
        var pid: Int32
        var from: Seconds
        var to: Seconds
    }
}
