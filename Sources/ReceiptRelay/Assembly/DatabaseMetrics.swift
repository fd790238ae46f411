import Metrics
import NIOConcurrencyHelpers
import Postgres
import Telemetry

/// Metrics of the database's connection pool.
final class DatabaseMetrics: PostgresObserver {
    private let loads = NIOLockedValueBox<[PostgresLane: PostgresLoad]>([:])

    init(registry: PrometheusRegistry) {
        registry.describe("postgres_query_duration", help: "From the call to its answer, by lane.")
        registry.describe("postgres_query_failures", help: "Calls that failed, by lane and kind.")
        registry.describe("postgres_disconnects", help: "Connections lost or refused, by lane and kind.")
        for lane in [PostgresLane.shared, .exclusive] {
            func gauge(_ name: String, _ help: String, _ value: @escaping @Sendable (PostgresLoad) -> Int) {
                registry.registerGauge(name, help: help, labels: [("lane", lane.rawValue)]) { [loads] in
                    Double(loads.withLockedValue { $0[lane] }.map(value) ?? 0)
                }
            }
            gauge("postgres_connections", "Connections that are up.") { $0.connected }
            gauge("postgres_calls_in_flight", "Calls under way.") { $0.inFlight }
            gauge("postgres_calls_waiting", "Calls that wait for a connection.") { $0.waiting }
        }
    }

    func queryFinished(lane: PostgresLane, duration: Duration, failure: PostgresError.Code?) {
        Timer(label: "postgres_query_duration", dimensions: [("lane", lane.rawValue)]).record(duration: duration)
        guard let failure else { return }
        Counter(
            label: "postgres_query_failures", dimensions: [("lane", lane.rawValue), ("kind", "\(failure)")]
        ).increment()
    }

    func loadChanged(lane: PostgresLane, load: PostgresLoad) {
        loads.withLockedValue { $0[lane] = load }
    }

    func disconnected(lane: PostgresLane, error: PostgresError) {
        Counter(
            label: "postgres_disconnects", dimensions: [("lane", lane.rawValue), ("kind", error.shortDescription)]
        ).increment()
    }
}
