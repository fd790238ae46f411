public import AppStoreServer
import Metrics
import NIOConcurrencyHelpers
import RelayCore

/// Access to the App Store for workers. After a failed call, an app is not asked about for a while. Each app has its
/// own pause: Apple refuses a key or limits calls by app, and publishers have their own apps. Each environment has its
/// own too: production does not know an unreleased app, but the sandbox does.
public final class AppStoreGate: Sendable {
    private struct App: Hashable {
        var environment: AppStoreServerClient.Environment
        var bundleID: BundleID
    }

    public let client: AppStoreServerClient
    private let pauses = NIOLockedValueBox(Pauses<App>())

    private static let pause = Duration.seconds(10)
    /// A problem with our key is not fixed within seconds.
    private static let longPause = Duration.seconds(300)

    public init(client: AppStoreServerClient) { self.client = client }

    func isOpen(_ environment: AppStoreServerClient.Environment, for bundleID: BundleID) -> Bool {
        remainingPause(environment, for: bundleID) == nil
    }

    /// - Returns: nil if calls for the app are allowed.
    func remainingPause(_ environment: AppStoreServerClient.Environment, for bundleID: BundleID) -> Duration? {
        pauses.withLockedValue { $0.remaining(of: App(environment: environment, bundleID: bundleID)) }
    }

    /// - Parameter route: label for metrics.
    func ask<Value>(
        _ route: String, in environment: AppStoreServerClient.Environment, for bundleID: BundleID,
        _ call: () async -> AppStoreAnswer<Value>
    ) async -> AppStoreAnswer<Value> {
        let answer = await call()
        Counter(label: "relay_app_store_calls", dimensions: [("route", route), ("verdict", answer.label)]).increment()
        let app = App(environment: environment, bundleID: bundleID)
        switch answer {
        case .value, .unknown: break
        case .misconfigured: pause(app, for: Self.longPause)
        case .tryAgain(_, let retryAfter): pause(app, for: max(Self.pause, retryAfter ?? .zero))
        }
        return answer
    }

    private func pause(_ app: App, for duration: Duration) { pauses.withLockedValue { $0.pause(app, for: duration) } }
}
