import Foundation

/// Process statistics from the kernel, under the names that Prometheus' own clients use.
public enum ProcessMetrics {
    public static func register(in registry: PrometheusRegistry, version: String) {
        registry.registerGauge(
            "relay_build_info", help: "1; the version is a label.", labels: [("version", version)]
        ) { 1 }
        registry.registerCollector { samples() }
    }

    /// Empty on systems without /proc.
    static func samples() -> [MetricSample] {
        guard let stat = contents("/proc/self/stat"), let uptime = contents("/proc/stat") else { return [] }
        // The second field is a name in parentheses that may hold anything. Fields are counted after its end; the third
        // field is 0.
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ").dropFirst().map(
            String.init)
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        let page = Double(sysconf(Int32(_SC_PAGESIZE)))
        func field(_ number: Int) -> Double { fields.indices.contains(number) ? Double(fields[number]) ?? 0 : 0 }
        let boot = uptime.split(separator: "\n").first { $0.hasPrefix("btime ") }?.split(separator: " ").last
        var samples = [
            MetricSample(
                name: "process_cpu_seconds", help: "User and system time, in seconds.", kind: .counter,
                value: (field(11) + field(12)) / ticks),
            MetricSample(name: "process_virtual_memory_bytes", help: "Virtual memory.", value: field(20)),
            MetricSample(name: "process_resident_memory_bytes", help: "Resident memory.", value: field(21) * page),
        ]
        if let boot = boot.flatMap({ Double($0) }) {
            samples.append(
                MetricSample(
                    name: "process_start_time_seconds", help: "When the process began, in seconds since 1970.",
                    value: boot + field(19) / ticks))
        }
        if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            samples.append(MetricSample(name: "process_open_fds", help: "Open files.", value: Double(files)))
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            samples.append(
                MetricSample(name: "process_max_fds", help: "The limit of open files.", value: Double(limit.rlim_cur)))
        }
        return samples
    }

    private static func contents(_ path: String) -> String? {
        // The size of a file in /proc is unknown beforehand.
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return (try? file.readToEnd()).map { String(decoding: $0, as: UTF8.self) }
    }
}
