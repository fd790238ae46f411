import Foundation
import NIOConcurrencyHelpers

/// A library of `scripts/lib`, compiled here, that simulates faults in the process that preloads it.
enum PreloadedLibrary: String, CaseIterable, Sendable {
    case wrongClock = "wrong-clock"
    case badDisk = "bad-disk"

    static let compiler = ["/usr/bin/cc", "/usr/bin/clang", "/usr/bin/gcc", "/usr/local/bin/cc"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private static let made = NIOLockedValueBox<[PreloadedLibrary: Task<Void, any Error>]>([:])

    /// Not in the user's temporary folder: a database server's user needs access.
    private var place: String { "/tmp/relay-\(rawValue)-\(getpid()).so" }

    /// The library's path; compiles it on first use.
    func path() async throws -> String {
        let making = Self.made.withLockedValue { made in
            if let making = made[self] { return making }
            let making = Task { try await make() }
            made[self] = making
            return making
        }
        try await making.value
        return place
    }

    private func make() async throws {
        guard let compiler = Self.compiler else { throw HarnessError.failed("a C compiler", ["there is none"]) }
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<5 { root.deleteLastPathComponent() }
        let source = root.appendingPathComponent("scripts/lib/\(rawValue).c").path
        try await Command.run(compiler, ["-shared", "-fPIC", "-O1", "-o", place, source, "-ldl"])
    }

    /// Called when no more processes are started with a library.
    static func removeAll() {
        made.withLockedValue { $0 = [:] }
        for library in allCases { try? FileManager.default.removeItem(atPath: library.place) }
    }
}
