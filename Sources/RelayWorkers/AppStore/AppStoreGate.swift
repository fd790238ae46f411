public import AppStoreServer
import Metrics
import NIOConcurrencyHelpers

/// The App Store as the workers ask it: an environment is left alone for a while after it could not be asked. Each by itself: an
/// app that is not released yet is refused in production and known in the sandbox.
public final class AppStoreGate: Sendable {
    public let client: AppStoreServerClient
    private let closedUntil = NIOLockedValueBox<[AppStoreServerClient.Environment: ContinuousClock.Instant]>([:])

    private static let pause = Duration.seconds(10)
    /// What is wrong with our key is not mended in seconds.
    private static let longPause = Duration.seconds(300)

    public init(client: AppStoreServerClient) { self.client = client }

    func isOpen(_ environment: AppStoreServerClient.Environment) -> Bool {
        closedUntil.withLockedValue { $0[environment].map { $0 <= .now } ?? true }
    }

    /// - Parameter route: for metrics.
    func ask<Value>(
        _ route: String, in environment: AppStoreServerClient.Environment, _ call: () async -> AppStoreAnswer<Value>
    ) async -> AppStoreAnswer<Value> {
        let answer = await call()
        Counter(label: "relay_app_store_calls", dimensions: [("route", route), ("verdict", answer.label)]).increment()
        switch answer {
        case .value, .unknown: break
        case .misconfigured: close(environment, for: Self.longPause)
        case .tryAgain(_, let retryAfter): close(environment, for: max(Self.pause, retryAfter ?? .zero))
        }
        return answer
    }

    private func close(_ environment: AppStoreServerClient.Environment, for pause: Duration) {
        let end = ContinuousClock.now + pause
        closedUntil.withLockedValue { $0[environment] = max($0[environment] ?? end, end) }
    }
}
