import Relay
import RelayCore
import Telemetry

/// Metrics of the weekly partitions, from this copy's latest look at them.
enum RetentionMetrics {
    static func register(in registry: PrometheusRegistry, service: RetentionService) {
        registry.describe(
            "relay_retention_dropped_partitions", help: "Partitions that this copy has dropped, by table.")
        registry.describe(
            "relay_retention_removed_rows",
            help: "Old rows that this copy has deleted, by table.")
        registry.registerCollector {
            guard let look = service.latest else { return [] }
            let plan = look.plan(service.policy)
            let heldBack = plan.heldBack + service.failed
            return PartitionedTable.allCases.flatMap { samples(of: $0, look, heldBack: heldBack) }
        }
    }

    private static func samples(
        of table: PartitionedTable, _ look: PartitionLook, heldBack: [WeeklyPartition]
    ) -> [MetricSample] {
        func gauge(_ name: String, _ help: String, _ value: Double) -> MetricSample {
            MetricSample(name: name, help: help, labels: [("table", table.rawValue)], value: value)
        }
        let own = look.partitions.filter { $0.table == table }
        var samples = [
            gauge("relay_partitions", "Weekly partitions, by table.", Double(own.count)),
            gauge(
                "relay_partition_bytes", "Bytes of the weekly partitions with their indexes, by table.",
                Double(own.reduce(0) { $0 + $1.bytes })),
            gauge(
                "relay_default_partition_rows",
                "Rows that no weekly partition holds, by table; counted up to \(PartitionLook.Default.countLimit).",
                Double(look.defaults[table]?.rows ?? 0)),
            gauge(
                "relay_retention_held_back",
                "Partitions past the limit that are kept since work in them is unfinished, or since the server refuses the drop.",
                Double(heldBack.count { $0.table == table })),
        ]
        if let day = look.oldestDay(of: table) {
            samples.append(
                gauge(
                    "relay_oldest_kept_timestamp_seconds",
                    "The first day of the oldest partition, by table, since 1970.",
                    Double(day) * 86_400))
        }
        return samples
    }
}
