import Foundation
public import Logging
import Metrics
import NIOConcurrencyHelpers
import Postgres
public import RelayCore
public import RelayStore
public import ServiceLifecycle
public import Webhooks

/// Delivers messages to webhook endpoints: many at once over all of them, of one endpoint and customer one at a time, in order.
///
/// An endpoint that hangs or is gone costs the others nothing: each has places of its own, and a breaker of its own.
public final class DeliveryService: Service {
    private let store: RelayStore
    let client: WebhookClient
    let credentials: PerPublisher<WebhookCredentials>
    let settings: DeliverySettings
    private let wakeup: Wakeup
    let logger: Logger
    private let directory: EndpointDirectory
    let recorder: DeliveryRecorder
    private let suspects = SuspectGate()
    private let state: NIOLockedValueBox<State>

    private struct State {
        var desks: EndpointDesks
        var tasks: [Running: Task<Void, Never>] = [:]
        var tidyAt = ContinuousClock.now
    }

    private struct Running: Hashable {
        var id: DeliveryID
        var fence: Int32
    }

    private static let tidyEvery = Duration.seconds(1)

    /// - Parameters:
    ///   - client: shut down when the service ends.
    ///   - wakeup: rung when there is something to be delivered.
    public init(
        store: RelayStore, client: WebhookClient, credentials: PerPublisher<WebhookCredentials>,
        settings: DeliverySettings, wakeup: Wakeup, logger: Logger
    ) {
        self.store = store
        self.client = client
        self.credentials = credentials
        self.settings = settings
        self.wakeup = wakeup
        self.logger = logger
        directory = EndpointDirectory(store: store)
        recorder = DeliveryRecorder(store: store)
        state = NIOLockedValueBox(State(desks: EndpointDesks(rooms: settings.rooms)))
    }

    /// How many messages are under way.
    public var inFlight: Int { state.withLockedValue { $0.desks.running } }

    /// Until a graceful shutdown: then nothing new is taken up, tries under way get their grace, and what is left goes back.
    public func run() async throws {
        await cancelWhenGracefulShutdown { await self.loop() }
        await settleDown()
        await client.shutDown()
    }

    private func loop() async {
        let rounds = RoundMetrics("webhooks")
        while !Task.isCancelled {
            do {
                if try await rounds.measure(runOnce) { continue }
            } catch is CancellationError {
                return
            } catch let error where error.isLostRace {
                continue
            } catch let error as PostgresError where error.code == .locked {
                // The data keys have not been read yet. Where that lasts, the readiness log says why.
                try? await Task.sleep(for: .milliseconds(100))
                continue
            } catch {
                guard !Task.isCancelled else { return }
                logger.warning("no message to an endpoint can be taken up", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .seconds(1))
            }
            let hasOpen = state.withLockedValue { $0.desks.hasOpen }
            await wakeup.wait(atMost: hasOpen ? settings.probeTick : settings.idleTick)
            try? await Task.sleep(for: settings.claimGap)
        }
    }

    /// Takes up what is due.
    ///
    /// - Returns: whether there may be more at once.
    func runOnce() async throws -> Bool {
        let endpoints = try await directory.all()
        let now = self.now
        let (turns, isTimeToTidy) = state.withLockedValue { state in
            state.desks.refresh(endpoints, at: now)
            let isTime = state.tidyAt <= .now
            if isTime { state.tidyAt = .now + Self.tidyEvery }
            return (state.desks.turns(at: now) { .random(in: 0..<1) }, isTime)
        }
        var idle = turns
        // What is not begun gives its probe back.
        defer { for (id, turn) in idle { heard(nil, of: id, turn.admission) } }
        if isTimeToTidy { _ = try await store.dropUndeliverable() }
        guard !turns.isEmpty else { return false }
        let claimedAt = ContinuousClock.now
        let claimed = try await store.claimDeliveries(
            rooms(turns), own: Array(credentials.own.keys), lease: settings.lease(timeout: client.timeout))
        var counts: [EndpointID: Int] = [:]
        for delivery in claimed { counts[delivery.endpoint, default: 0] += 1 }
        for delivery in try await suspects.admit(claimed, store) {
            guard let turn = turns[delivery.endpoint] else { continue }
            idle[delivery.endpoint] = nil
            start(delivery, turn, claimedAt: claimedAt)
        }
        return turns.contains { id, turn in !turn.admission.isProbe && counts[id] == turn.room }
    }

    /// None for an endpoint whose credentials this copy does not have.
    private func rooms(_ turns: [EndpointID: EndpointDesks.Turn]) -> [EndpointID: DeliveryRoom] {
        turns.compactMapValues { turn in
            credentials[turn.endpoint.publisher].map {
                DeliveryRoom(count: turn.room, publisher: turn.endpoint.publisher, mark: $0.mark)
            }
        }
    }

    private func start(
        _ claimed: ClaimedDelivery, _ turn: EndpointDesks.Turn, claimedAt: ContinuousClock.Instant
    ) {
        let key = Running(id: claimed.id, fence: claimed.fence)
        // The lock is held until the task is known, so that it cannot end before.
        state.withLockedValue { state in
            state.desks.began(claimed.endpoint)
            state.tasks[key] = Task {
                await deliver(claimed, turn, claimedAt: claimedAt)
                suspects.leave(claimed)
                self.state.withLockedValue { state in
                    state.tasks[key] = nil
                    state.desks.ended(claimed.endpoint)
                }
                // The next of its lane, or of its endpoint, may go now.
                wakeup.ring()
            }
        }
    }

    /// Tells the endpoint's breaker, and ops where that opens or closes.
    func heard(_ result: CallResult?, of id: EndpointID, _ admission: CircuitBreaker.Admission) {
        let now = now
        let (wasClosed, isClosed) = state.withLockedValue { state in
            state.desks.heard(result, of: id, admission, at: now, jitter: .random(in: 0..<1))
        }
        switch (wasClosed, isClosed) {
        case (true, false):
            logger.warning(
                "a webhook endpoint does not take messages: it is only probed until it does",
                metadata: ["endpoint": "\(id)"])
        case (false, true):
            logger.notice("a webhook endpoint takes messages again", metadata: ["endpoint": "\(id)"])
        default: break
        }
    }

    /// Writes how the endpoint does, where that is news.
    func note(_ verdict: WebhookResult.Verdict, of id: EndpointID) async throws {
        let now = store.clock.now ?? Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        let change = state.withLockedValue { $0.desks.standing(of: id, after: verdict, at: now) }
        guard let change, try await store.note(change, of: id) else { return }
        directory.forget()
        guard case .disabled(let reason) = change else { return }
        Counter(label: "relay_webhook_endpoints_disabled", dimensions: [("reason", reason.rawValue)]).increment()
        logger.error(
            "a webhook endpoint is disabled: nothing is sent to it, and what waits for it is dropped",
            metadata: ["endpoint": "\(id)", "reason": "\(reason.rawValue)"])
    }

    /// The try does not count.
    func giveBack(_ claimed: ClaimedDelivery, after pause: Duration = .zero) async throws {
        try await store.giveBackDeliveries([claimed], after: pause)
    }

    /// What a try came to nothing by. Given back, it is sent twice under one id where it was sent before.
    func interrupted(_ claimed: ClaimedDelivery, by error: any Error) async {
        await store.interrupted([claimed.row], by: error)
    }

    private func settleDown() async {
        let end = ContinuousClock.now + settings.grace
        while inFlight > 0, ContinuousClock.now < end { await wakeup.wait(atMost: .milliseconds(50)) }
        let left = state.withLockedValue { Array($0.tasks.values) }
        for task in left { task.cancel() }
        for task in left { await task.value }
        await recorder.drain()
    }

    private static let start = ContinuousClock.now
    /// By this process's monotonic clock.
    private var now: Timestamp { Timestamp(microseconds: (ContinuousClock.now - Self.start).microseconds) }
}
