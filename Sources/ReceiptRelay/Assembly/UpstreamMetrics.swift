import RelayCore
import RelayStore
import RelayWorkers
import Telemetry

/// How the upstream does as this process sees it, and what is held back for its sake. Once for each account at Cleeng.
enum UpstreamMetrics {
    static func register(in registry: PrometheusRegistry, upstream: Upstream) {
        registry.describe("relay_upstream_calls", help: "Calls to Cleeng, by route and what they came to.")
        registry.describe("relay_upstream_call_duration", help: "How long calls to Cleeng took, by route.")
        registry.describe("relay_upstream_wait", help: "How long calls to Cleeng waited for a place, by route.")
        registry.describe("relay_upstream_breaker_opens", help: "Times that a route was shut but for probes.")
        registry.describe("relay_upstream_probes", help: "Calls sent to see whether a route that is shut works again.")
        registry.describe(
            "relay_pursuits_held_back", help: "Pursuits taken up and put back since their route was shut by then.")
        for state in InstanceReport.UpstreamState.allCases {
            registry.registerGauge(
                "relay_upstream_state", help: "1 for the state that the upstream is in, as this process sees it.",
                labels: upstream.accountLabel + [("state", state.rawValue)]
            ) { upstream.report()?.state ?? .ok == state ? 1 : 0 }
        }
        for route in UpstreamRoute.allCases {
            for state in CircuitBreaker.State.allCases {
                registry.registerGauge(
                    "relay_upstream_breaker_state", help: "1 for the state of the route's breaker in this process.",
                    labels: upstream.labels(route.rawValue) + [("state", state.rawValue)]
                ) { upstream.breakerState(route) == state ? 1 : 0 }
            }
            registry.registerGauge(
                "relay_upstream_calls_in_flight", help: "Calls to Cleeng that have a place.",
                labels: upstream.labels(route.rawValue)
            ) { Double(upstream.load(of: route).inFlight) }
            registry.registerGauge(
                "relay_upstream_calls_waiting", help: "Calls to Cleeng that wait for a place.",
                labels: upstream.labels(route.rawValue)
            ) { Double(upstream.load(of: route).waiting) }
        }
    }
}
