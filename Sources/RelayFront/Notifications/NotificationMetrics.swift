import AppleStore
import Metrics
import NIOConcurrencyHelpers
import RelayCore
import Telemetry

/// What is counted of notifications.
final class NotificationMetrics: Sendable {
    enum Result: Sendable, Hashable {
        case stored, repeated
        case refused(NotGenuine.Code)
        /// Neither version, too large, not JSON.
        case unreadable
        /// Passing trouble: Apple comes again.
        case failed

        fileprivate var label: String {
            switch self {
            case .stored: "stored"
            case .repeated: "repeated"
            case .refused(let code): code.rawValue
            case .unreadable: "not_a_notification"
            case .failed: "failed"
            }
        }
    }

    private static let pause = Duration.seconds(1)

    private let registry: PrometheusRegistry
    private let lastLogged = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    init(registry: PrometheusRegistry) {
        self.registry = registry
        registry.describe(
            "apple_notifications",
            help: "Notifications that came: stored, repeated, or why they were not taken.")
    }

    /// - Parameter version: nil where it is not known, or not to be believed.
    func count(_ result: Result, version: StoreNotification.Version?) {
        Counter(
            label: "apple_notifications",
            dimensions: [("result", result.label), ("version", version.map { String($0.rawValue) } ?? "")],
            factory: registry
        ).increment()
    }

    /// Once a second at most.
    func mayLogRefusal(now: ContinuousClock.Instant = .now) -> Bool {
        lastLogged.withLockedValue { last in
            if let last, now - last < Self.pause { return false }
            last = now
            return true
        }
    }
}
