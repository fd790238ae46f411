import Foundation

/// A wall clock that is wrong for one process alone: `scripts/lib/wrong-clock.c`.
enum WrongClock {
    /// The environment of the copy that is to have it.
    static func settings(error: Duration) async throws -> [String: String] {
        [
            "LD_PRELOAD": try await PreloadedLibrary.wrongClock.path(),
            "WRONG_CLOCK_SECONDS": "\(error.components.seconds)",
        ]
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
}
