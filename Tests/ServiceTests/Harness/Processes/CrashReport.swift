import Foundation

/// Reports a child's crash on standard error, so that no crash looks like a lost connection.
enum CrashReport {
    /// Signals that no test sends: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV.
    private static let signals: Set<Int32> = [4, 5, 6, 7, 8, 11]

    static func tell(_ program: String, _ code: Int32, _ lines: [String]) {
        guard code < 0, signals.contains(-code) else { return }
        let first = lines.firstIndex { $0.contains("Fatal error") || $0.contains("rashed") || $0.contains("***") } ?? 0
        let told = lines[first...].prefix(200).joined(separator: "\n")
        FileHandle.standardError.write(Data("\(program) crashed by signal \(-code):\n\(told)\n".utf8))
    }
}
