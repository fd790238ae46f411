import Foundation

/// A wall clock that is wrong for one process alone: `scripts/lib/wrong-clock.c`, compiled here and preloaded.
enum WrongClock {
    static let compiler = ["/usr/bin/cc", "/usr/bin/clang", "/usr/bin/gcc", "/usr/local/bin/cc"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private static let source = {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<5 { root.deleteLastPathComponent() }
        return root.appendingPathComponent("scripts/lib/wrong-clock.c").path
    }()

    private static let library = Task {
        guard let compiler else { throw HarnessError.failed("a C compiler", ["there is none"]) }
        let path = NSTemporaryDirectory() + "/relay-wrong-clock-\(getpid()).so"
        try await Command.run(compiler, ["-shared", "-fPIC", "-O1", "-o", path, source, "-ldl"])
        return path
    }

    /// The environment of the copy that is to have it.
    static func settings(error: Duration) async throws -> [String: String] {
        ["LD_PRELOAD": try await library.value, "WRONG_CLOCK_SECONDS": "\(error.components.seconds)"]
    }

    /// What the copy writes shows whether its clock is wrong as it should be.
    static func check(_ relay: Relay, error: Duration) throws {
        guard let line = relay.process.output.last, let json = try? JSON(data: Data(line.utf8)),
            let stamp = json["timestamp"].string.flatMap(Date.init(milliseconds:))
        else { throw HarnessError.failed("reading a copy's clock", relay.process.output) }
        let seen = stamp.timeIntervalSinceNow
        guard abs(seen - TimeInterval(error.components.seconds)) < 60 else {
            throw HarnessError.failed("making a copy's clock wrong", ["it is wrong by \(seen) seconds"])
        }
    }

    /// Once nobody is started with it any more.
    static func remove() async {
        guard compiler != nil, let path = try? await library.value else { return }
        try? FileManager.default.removeItem(atPath: path)
    }
}
