import Foundation

/// The kernel's data about a process.
enum ProcessFacts {
    /// Resident memory in MiB.
    static func residentMemory(of process: ChildProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw HarnessError.failed("VmRSS", [])
        }
        return kibibytes / 1_024
    }

    /// Raises the limit of open descriptors of this process and its children to the maximum, and returns it.
    static func raisedOpenFileLimit() -> Int {
        var limits = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limits) == 0 else { return 1_024 }
        limits.rlim_cur = min(limits.rlim_max, 20_000)
        _ = setrlimit(resource, &limits)
        return Int(limits.rlim_cur)
    }

    static func openSockets(of process: ChildProcess) throws -> Int {
        let folder = "/proc/\(process.pid)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder)
            .count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
                return target?.hasPrefix("socket:") == true
            }
    }
}
