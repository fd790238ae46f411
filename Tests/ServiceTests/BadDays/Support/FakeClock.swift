import Foundation

/// Debian's libfaketime, where it is installed: lets a process see another time of day than everybody else.
enum FakeClock {
    static var library: String? {
        let root = "/usr/lib"
        let named = ProcessInfo.processInfo.environment["RELAY_TEST_LIBFAKETIME"].map { [$0] } ?? []
        let found = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [])
            .map { "\(root)/\($0)/faketime/libfaketime.so.1" }
        return (named + found).first { FileManager.default.fileExists(atPath: $0) }
    }

    /// - Parameter offset: as in `+3h`.
    static func environment(_ offset: String) -> [String: String] {
        // Waiting goes by the monotonic clock, which is nobody's to set.
        ["LD_PRELOAD": library ?? "", "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"]
    }
}
