public import AppStoreServer
import Metrics
import NIOConcurrencyHelpers
import RelayCore

/// The App Store as the workers ask it: an app is left alone for a while after its question failed. Each app by itself: Apple refuses a key
/// or limits calls by app, and publishers have apps of their own. Each environment by itself: an app that is not released yet is
/// refused in production and known in the sandbox.
public final class AppStoreGate: Sendable {
    private struct App: Hashable {
        var environment: AppStoreServerClient.Environment
        var bundleID: BundleID
    }

    public let client: AppStoreServerClient
    private let pauses = NIOLockedValueBox(Pauses<App>())

    private static let pause = Duration.seconds(10)
    /// What is wrong with our key is not mended in seconds.
    private static let longPause = Duration.seconds(300)

    public init(client: AppStoreServerClient) { self.client = client }

    func isOpen(_ environment: AppStoreServerClient.Environment, for bundleID: BundleID) -> Bool {
        remainingPause(environment, for: bundleID) == nil
    }

    /// - Returns: nil if the app may be asked for.
    func remainingPause(_ environment: AppStoreServerClient.Environment, for bundleID: BundleID) -> Duration? {
        pauses.withLockedValue { $0.remaining(of: App(environment: environment, bundleID: bundleID)) }
    }

    /// - Parameter route: for metrics.
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
