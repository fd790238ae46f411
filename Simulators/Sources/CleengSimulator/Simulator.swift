import NIOConcurrencyHelpers

/// The simulated Cleeng behind its one lock, with the clock that moves it.
final class Simulator: Sendable {
    static let bodyLimit = 8 * 1_024 * 1_024

    let publisherToken: String
    let clock: SimulatorClock
    let identity: ReceiptIdentity
    private let cleeng: NIOLockedValueBox<SimulatedCleeng>

    init(
        settings: Settings, publisherToken: String, clock: SimulatorClock = .system(),
        identity: ReceiptIdentity
    ) {
        self.publisherToken = publisherToken
        self.clock = clock
        self.identity = identity
        cleeng = NIOLockedValueBox(SimulatedCleeng(settings: settings))
    }

    func begin(_ call: CleengCall) -> Verdict {
        cleeng.withLockedValue { cleeng in
            // The time is taken under the lock, so that it never runs behind what another request has seen.
            cleeng.advance(to: clock.now())
            return cleeng.begin(call)
        }
    }

    func end(_ verdict: Verdict, outcome: LoggedRequest.Outcome, status: Int? = nil) {
        cleeng.withLockedValue { $0.end(verdict, outcome: outcome, status: status, at: clock.now()) }
    }

    /// Takes the next event that is to be sent by now, having let happen what has become due.
    func nextWebhook() -> WebhookEvent? {
        cleeng.withLockedValue { cleeng in
            cleeng.advance(to: clock.now())
            return cleeng.takeWebhook()
        }
    }

    /// Where an event is to go now; nil where it is not to be sent any more.
    func target(of event: WebhookEvent) -> WebhookTarget? { cleeng.withLockedValue { $0.target(of: event) } }

    func delivered(_ event: WebhookEvent, attempts: Int, status: Int?) {
        cleeng.withLockedValue { cleeng in
            cleeng.note(WebhookDelivery(event: event, attempts: attempts, status: status, endedAt: clock.now()))
        }
    }

    func control(_ call: ControlCall) throws -> Reply {
        try cleeng.withLockedValue { cleeng in
            cleeng.advance(to: clock.now())
            return try cleeng.control(call)
        }
    }
}
