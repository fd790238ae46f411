import Foundation

/// A wall clock that is wrong for one process only: `scripts/lib/wrong-clock.c`.
enum WrongClock {
    /// Environment of the copy with the wrong clock.
    static func settings(error: Duration) async throws -> [String: String] {
        [
            "LD_PRELOAD": try await PreloadedLibrary.wrongClock.path(),
            "WRONG_CLOCK_SECONDS": "\(error.components.seconds)",
        ]
    }

    /// Checks by the copy's log that its clock is wrong by `error`.
    static func check(_ relay: Relay, error: Duration) throws {
        guard let line = relay.process.output.last, let json = try? JSON(data: Data(line.utf8)),
            let stamp = json["timestamp"].string.flatMap(Date.init(milliseconds:))
        else { throw HarnessError.failed("reading a copy's clock", relay.process.output) }
        let seen = stamp.timeIntervalSinceNow
        guard abs(seen - TimeInterval(error.components.seconds)) < 60 else {
            throw HarnessError.failed("making a copy's clock wrong", ["it is wrong by \(seen) seconds"])
        }
    }
}
