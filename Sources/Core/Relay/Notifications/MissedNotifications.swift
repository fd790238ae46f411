import AppStoreServer
public import AppleStore
import Foundation
public import Logging
import Metrics
public import RelayCore
public import ServiceLifecycle

/// Asks the App Store for notifications that it could not deliver, and stores them as if they had been delivered. The
/// App Store stops retrying after some days, but lists them for half a year.
///
/// One copy at a time asks, under a duty in the database. A notification that is already known is stored only once.
public struct MissedNotifications: Service {
    private let store: RelayStore
    private let gate: AppStoreGate
    private let policy: NotificationPolicy
    private let scope: StoreScope
    private let isRelayed: PerPublisher<Bool>
    private let interval: Duration
    private let logger: Logger

    /// A notification signed this long before the last query may still have been in delivery then.
    private static let overlap = Duration.seconds(3_600)
    /// Pause if not everything could be read.
    private static let pause = Duration.seconds(300)
    private static let memory = Duration.seconds(179 * 86_400)

    /// - Parameters:
    ///   - isRelayed: whether notifications are relayed to Cleeng.
    ///   - interval: time between two queries.
    public init(
        store: RelayStore, gate: AppStoreGate, policy: NotificationPolicy, scope: StoreScope,
        isRelayed: PerPublisher<Bool>, interval: Duration, logger: Logger
    ) {
        self.store = store
        self.gate = gate
        self.policy = policy
        self.scope = scope
        self.isRelayed = isRelayed
        self.interval = interval
        self.logger = logger
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await runOnce()
                } catch is CancellationError {
                    return
                } catch {
                    guard !Task.isCancelled else { return }
                    logger.warning("missed notifications cannot be asked for", metadata: ["error": "\(error)"])
                }
                // Tries often: the database decides when a copy gets the turn.
                try? await Task.sleep(for: min(interval, .seconds(60)))
            }
        }
    }

    func runOnce() async throws {
        for environment in AppStoreServerClient.Environment.allCases where takes(environment) {
            try await runOnce(environment)
        }
    }

    private func runOnce(_ environment: AppStoreServerClient.Environment) async throws {
        guard mayAsk(environment), let now = store.memory.clock.now,
            let turn = try await store.notifications.takeMissedTurn(isSandbox: environment == .sandbox)
        else { return }
        // Notifications from before the first start are not fetched.
        guard let completeUntil = turn.completeUntil else {
            return try await store.notifications.end(turn, completeUntil: now, pause: interval)
        }
        let start = max(completeUntil + (.zero - Self.overlap), now + (.zero - Self.memory))
        let range = start.microseconds / 1_000..<max(now.microseconds, start.microseconds + 1_000) / 1_000
        var isComplete = true
        for bundleID in scope.bundleIds.sorted() {
            guard gate.isOpen(environment, for: bundleID) else {
                isComplete = false
                continue
            }
            let all = try await askAll(range, environment, bundleID, turn)
            isComplete = isComplete && all
        }
        try await store.notifications.end(
            turn, completeUntil: isComplete ? now : nil, pause: isComplete ? interval : min(interval, Self.pause))
    }

    /// Whether at least one app may be asked about.
    private func mayAsk(_ environment: AppStoreServerClient.Environment) -> Bool {
        scope.bundleIds.isEmpty || scope.bundleIds.contains { gate.isOpen(environment, for: $0) }
    }

    private func takes(_ environment: AppStoreServerClient.Environment) -> Bool {
        scope.environments.contains(environment == .production ? .production : .sandbox)
    }

    /// - Returns: whether all pages were read and all their notifications stored.
    private func askAll(
        _ range: Range<Int64>, _ environment: AppStoreServerClient.Environment, _ bundleID: BundleID,
        _ turn: MissedNotificationsTurn
    ) async throws -> Bool {
        var page: String?
        var isComplete = true
        repeat {
            let answer = await gate.ask("notifications", in: environment, for: bundleID) {
                await gate.client.missedNotifications(in: range, of: environment, bundleID: bundleID, page: page)
            }
            switch answer {
            case .value(let found):
                for payload in found.signedPayloads {
                    let isTaken = try await take(payload)
                    isComplete = isComplete && isTaken
                }
                try await store.notifications.keep(turn)
                page = found.next
            // The app has no customer in this environment yet.
            case .unknown: return isComplete
            case .misconfigured(let why), .tryAgain(let why, _):
                logger.warning("missed notifications cannot be asked for", metadata: ["error": "\(why)"])
                return false
            }
        } while page != nil
        return isComplete
    }

    /// Stores a notification. A failure affects no other one: it is requested again with the whole range.
    ///
    /// - Returns: whether the notification needs no further attempt.
    private func take(_ signedPayload: String) async throws -> Bool {
        try Task.checkCancellation()
        // The same body as the App Store would have sent.
        let body = Array(#"{"signedPayload":"\#(signedPayload)"}"#.utf8)
        let notification: StoreNotification
        do {
            notification = try await policy.judge(try ServerNotification(body: body))
        } catch {
            Counter(label: "relay_missed_notifications", dimensions: [("result", "refused")]).increment()
            logger.error("a notification of the history is refused", metadata: ["error": "\(error)"])
            return true
        }
        guard let now = store.memory.clock.now else { throw CancellationError() }
        let received = ReceivedNotification(notification, body: body, isRelayed: isRelayed)
        do {
            let outcome = try await store.notifications.receive(received, now: now)
            Counter(label: "relay_missed_notifications", dimensions: [("result", "\(outcome)")]).increment()
            if outcome == .stored { store.memory.signal(.notifications) }
            return true
        } catch let error where error.isForGood {
            Counter(label: "relay_missed_notifications", dimensions: [("result", "failed")]).increment()
            logger.error("a notification of the history cannot be taken in", metadata: ["error": "\(error)"])
            return false
        }
    }
}
