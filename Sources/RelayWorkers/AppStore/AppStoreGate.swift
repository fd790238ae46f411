public import AppStoreServer
import Metrics
import NIOConcurrencyHelpers

/// The App Store as the workers ask it: left alone for a while after it could not be asked.
public final class AppStoreGate: Sendable {
    let client: AppStoreServerClient
    private let closedUntil = NIOLockedValueBox(ContinuousClock.now)

    private static let pause = Duration.seconds(10)
    /// What is wrong with our key is not mended in seconds.
    private static let longPause = Duration.seconds(300)

    public init(client: AppStoreServerClient) { self.client = client }

    var isOpen: Bool { closedUntil.withLockedValue { $0 <= .now } }

    /// - Parameter route: for metrics.
    func ask<Value>(_ route: String, _ call: () async -> AppStoreAnswer<Value>) async -> AppStoreAnswer<Value> {
        let answer = await call()
        Counter(label: "relay_app_store_calls", dimensions: [("route", route), ("verdict", answer.label)]).increment()
        switch answer {
        case .value, .unknown: break
        case .misconfigured: close(for: Self.longPause)
        case .tryAgain(_, let retryAfter): close(for: max(Self.pause, retryAfter ?? .zero))
        }
        return answer
    }

    private func close(for pause: Duration) {
        closedUntil.withLockedValue { $0 = max($0, .now + pause) }
    }
}
