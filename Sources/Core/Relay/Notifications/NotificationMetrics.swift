import Metrics
import NIOConcurrencyHelpers
import RelayCore
import Telemetry

/// Counters of notifications.
final class NotificationMetrics: Sendable {
    private static let pause = Duration.seconds(1)

    private let registry: PrometheusRegistry
    private let lastLogged = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    init(registry: PrometheusRegistry) {
        self.registry = registry
        registry.describe(
            "apple_notifications",
            help: "The App Store's notifications that came: stored, repeated, or why they were not taken.")
        registry.describe(
            "store_notifications",
            help: "Other stores' notifications that came: stored, repeated, or why they were not taken.")
    }

    /// - Parameters:
    ///   - result: one of a fixed set.
    ///   - version: nil if it is unknown or not trustworthy.
    func count(_ result: String, of store: StorePlatform, version: StoreNotification.Version? = nil) {
        let (name, label): (String, (String, String)) =
            store == .apple
            ? ("apple_notifications", ("version", version.map { String($0.rawValue) } ?? ""))
            : ("store_notifications", ("store", store.rawValue))
        Counter(label: name, dimensions: [("result", result), label], factory: registry).increment()
    }

    /// Whether a refusal may be logged: once a second at most.
    func mayLogRefusal() -> Bool {
        let now = ContinuousClock.now
        return lastLogged.withLockedValue { last in
            if let last, now - last < Self.pause { return false }
            last = now
            return true
        }
    }
}
