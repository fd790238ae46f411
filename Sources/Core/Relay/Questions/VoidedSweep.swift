public import GooglePlay
public import Logging
import Metrics
public import RelayCore
public import ServiceLifecycle
import StoreAPI
import StoreSignals

/// Asks Google for voided purchases, in case a notification was lost, and stores each as if its notification had
/// arrived.
///
/// One copy at a time asks about an app. A known void is stored only once. Google lists thirty days.
public struct VoidedSweep: Service {
    private let store: RelayStore
    private let clients: PerPublisher<GooglePlayClient?>
    private let interval: Duration
    private let logger: Logger

    /// A purchase recorded this long before the last query may not have been listed then.
    private static let overlap = Duration.seconds(3_600)
    /// Small enough to finish within the lease, even if the database is slow.
    private static let batch = 50
    private static let mostPages = 1_000
    private static let memory = Duration.seconds(29 * 86_400)
    /// Pause if not everything could be read.
    private static let pause = Duration.seconds(300)

    /// - Parameters:
    ///   - clients: nil for publishers whose account cannot ask Google.
    ///   - interval: time between two queries about one app.
    public init(
        store: RelayStore, clients: PerPublisher<GooglePlayClient?>, interval: Duration,
        logger: Logger
    ) {
        self.store = store
        self.clients = clients
        self.interval = interval
        self.logger = logger
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    while try await runOnce() {}
                } catch is CancellationError {
                    return
                } catch {
                    guard !Task.isCancelled else { return }
                    logger.warning("voided purchases cannot be asked for", metadata: ["error": "\(error)"])
                }
                // Tries often: the database decides when a copy gets the turn.
                try? await Task.sleep(for: min(interval, .seconds(30)))
            }
        }
    }

    /// - Returns: whether there was a turn.
    func runOnce() async throws -> Bool {
        guard let now = store.memory.clock.now,
            var turn = try await store.questions.takeSweep(own: Array(clients.own.keys))
        else { return false }
        guard let client = clients[turn.publisher] ?? nil else {
            try await store.questions.end(
                turn, completeUntil: nil, trouble: "no service account of Google's is configured", pause: interval,
                canAsk: false)
            return true
        }
        let oldest = now + (.zero - Self.memory)
        let start = max(turn.completeUntil.map { $0 + (.zero - Self.overlap) } ?? oldest, oldest)
        let trouble = try await sweep(&turn, start..<max(now, start), client)
        if let trouble {
            logger.warning(
                "voided purchases cannot be asked for", metadata: ["app": "\(turn.app)", "error": "\(trouble)"])
        }
        Counter(
            label: "relay_voided_sweeps", dimensions: [("result", trouble == nil ? "done" : "failed")]
        ).increment()
        try await store.questions.end(
            turn, completeUntil: trouble == nil ? now : nil, trouble: trouble,
            pause: trouble == nil ? interval : min(interval, Self.pause))
        return true
    }

    /// - Returns: why not everything could be read; nil if it was.
    private func sweep(
        _ turn: inout SweepTurn, _ times: Range<Timestamp>, _ client: GooglePlayClient
    ) async throws -> String? {
        var page: String?
        var pages = 0
        repeat {
            switch await client.voidedPurchases(in: times, packageName: turn.app, page: page) {
            case .found(let found):
                for start in stride(from: 0, to: found.items.count, by: Self.batch) {
                    try await take(found.items[start..<min(start + Self.batch, found.items.count)], turn)
                    turn = try await store.questions.keep(turn)
                }
                pages += 1
                // Stops if an answer names the same page again, or if pages never end.
                guard pages < Self.mostPages, found.next == nil || found.next != page else {
                    return "its list has no end"
                }
                page = found.next
            case .notAPurchase(let why), .misconfigured(let why), .tryAgain(let why, _): return why
            }
        } while page != nil
        return nil
    }

    /// Stores the purchases that still give access. For others, the notification arrived or nothing was granted.
    private func take(_ items: ArraySlice<VoidedPurchases.Item>, _ turn: SweepTurn) async throws {
        func key(_ item: VoidedPurchases.Item) -> TransactionID {
            turn.store.subscriptionKey(TransactionID(item.purchaseToken))
        }
        let running = try await store.questions.running(items.map(key), of: turn.publisher)
        for item in items where running.contains(key(item)) {
            try Task.checkCancellation()
            let body = try SweptPurchase.body(
                packageName: turn.app, purchaseToken: item.purchaseToken, orderID: item.orderID,
                voidedAt: item.voidedAt, reason: item.reason, publisher: turn.publisher)
            guard let now = store.memory.clock.now else { throw CancellationError() }
            let received = ReceivedNotification(
                try GoogleNotification(body: body).notification, body: body, isRelayed: PerPublisher(false))
            let outcome = try await store.notifications.receive(
                received, of: turn.publisher, now: now)
            Counter(label: "relay_voided_purchases", dimensions: [("result", "\(outcome)")]).increment()
        }
    }
}
