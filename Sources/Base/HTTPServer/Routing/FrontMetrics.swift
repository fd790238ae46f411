import Formats
import HTTPTypes
import Metrics
import NIOConcurrencyHelpers
package import Telemetry

/// Metrics of the servers. Each is kept once made, since making one locks the whole registry.
package final class FrontMetrics: Sendable {
    private struct Key: Hashable {
        var route: String
        var method: String
        var statusClass: Int
    }

    private struct Pair: Sendable {
        var requests: Counter
        var duration: Timer
    }

    private let registry: PrometheusRegistry
    private let pairs = NIOLockedValueBox<[Key: Pair]>([:])

    package init(registry: PrometheusRegistry) {
        self.registry = registry
        registry.describe("http_server_requests", help: "Requests answered, by route, method and class of status.")
        registry.describe(
            "http_server_request_duration",
            help: "Time from a request's head to its answer; held polls are held that long.")
    }

    func record(route: String, method: HTTPRequest.Method, status: HTTPResponse.Status, duration: Duration) {
        let key = Key(
            route: route.isEmpty ? "none" : route, method: Self.name(of: method), statusClass: status.code / 100)
        let pair = pairs.withLockedValue { pairs in
            if let pair = pairs[key] { return pair }
            let pair = make(key)
            pairs[key] = pair
            return pair
        }
        pair.requests.increment()
        pair.duration.recordNanoseconds(duration.microseconds * 1_000)
    }

    /// Label of a method. Clients may send any method, so all unknown ones share a label.
    static func name(of method: HTTPRequest.Method) -> String {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options: method.rawValue
        default: "OTHER"
        }
    }

    private func make(_ key: Key) -> Pair {
        let dimensions = [("route", key.route), ("method", key.method), ("status", "\(key.statusClass)xx")]
        return Pair(
            requests: Counter(label: "http_server_requests", dimensions: dimensions, factory: registry),
            duration: Timer(
                label: "http_server_request_duration", dimensions: dimensions, preferredDisplayUnit: .seconds,
                factory: registry))
    }
}
