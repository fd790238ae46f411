import Foundation
import TestRun

/// Settings of the grid. Only this type reads their environment variables:
///
/// | variable | meaning |
/// | --- | --- |
/// | `RELAY_CHAOS_FULL` | any value: faults as long as the promise names them (a minute of kills, half a minute without a database), and a deadline of sixty seconds, like a real app's. Without it, faults last seconds |
/// | `RELAY_CHAOS_ONLY` | the rows to run, comma-separated; `a+b` is both at once, `pairs` all tested pairs. By default each single fault; without `RELAY_CHAOS_FULL` not those that need a pair of servers, and without `scripts/test --all` four |
/// | `RELAY_CHAOS_ROUNDS` | how often the whole grid runs; 1 by default |
/// | `RELAY_CHAOS_SECONDS` | the length of every fault that has one |
/// | `RELAY_CHAOS_LOGS` | a folder for the copies' logs of each row that fails |
/// | `RELAY_CHAOS_WIDTH` | how many faults run at the same time, each on its own service; 4, or 3 with `RELAY_CHAOS_FULL` |
struct ChaosSettings: Sendable {
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    /// The rows of a run that is not for all tests: a death, a loss of memory on either side, and a copy that goes on too late.
    private static let always: Set = ["all-killed", "database-restarted", "answers-lost", "copy-frozen"]

    var rounds: Int
    var strikes: [Strike]
    /// Stores whose notifications arrive while copies are killed.
    var stores: [StoreCase]
    var isFull: Bool
    var width: Int
    private var seconds: Int?
    private var logs: String?

    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
            guard let text = environment[name], !text.isEmpty else { return nil }
            guard let number = Int(text), range.contains(number) else {
                throw Malformed(description: "\(name) wants a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        isFull = environment["RELAY_CHAOS_FULL"].map { !$0.isEmpty } ?? false
        rounds = try number("RELAY_CHAOS_ROUNDS", in: 1...1_000) ?? 1
        width = try number("RELAY_CHAOS_WIDTH", in: 1...16) ?? (isFull ? 3 : 4)
        seconds = try number("RELAY_CHAOS_SECONDS", in: 1...600)
        logs = environment["RELAY_CHAOS_LOGS"]
        let names = (environment["RELAY_CHAOS_ONLY"] ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        stores = StoreCase.allCases.filter { names.isEmpty || names.contains($0.row) }
        strikes = try names.filter { name in !StoreCase.allCases.contains { $0.row == name } }.flatMap { name in
            if name == "pairs" { return Strike.pairs }
            guard let strike = Strike(named: name) else {
                let all = (Fault.allCases.map(\.rawValue) + StoreCase.allCases.map(\.row)).joined(separator: ", ")
                throw Malformed(description: "RELAY_CHAOS_ONLY: no fault is called \(name); there are \(all)")
            }
            return [strike]
        }
        // `FailoverTests` cover a lost primary, and a machine that all tests share has no capacity for more.
        if names.isEmpty {
            strikes = Strike.single.filter {
                isFull || (TestRun.isWhole ? $0.ground != .pair : Self.always.contains($0.name))
            }
        }
    }

    func length(of strike: Strike) -> Duration { strike.faults.map { length(of: $0) }.max() ?? .zero }

    func length(of fault: Fault) -> Duration {
        let (short, full) = fault.seconds
        return .seconds(seconds ?? (isFull ? full : short))
    }

    /// How long an app waits for its purchase: the relay's validation timeout.
    func appPatience(_ strike: Strike) -> Duration {
        isFull ? .seconds(60) : max(.seconds(15), length(of: strike) + .seconds(7))
    }

    /// Limit for a row to settle after its fault.
    func settlingLimit(_ strike: Strike) -> Duration { appPatience(strike) + length(of: strike) + .seconds(25) }

    func keepLogs(of scene: ChaosScene, _ strike: Strike) throws {
        guard let logs else { return }
        try FileManager.default.createDirectory(atPath: logs, withIntermediateDirectories: true)
        for index in 0..<scene.count {
            let lines = scene.relay(index)?.process.output ?? []
            try (lines.joined(separator: "\n") + "\n").write(
                toFile: "\(logs)/\(strike.name)-\(index)-\(UInt16.random(in: 0 ... .max)).log", atomically: true,
                encoding: .utf8)
        }
    }

    /// Time limit of the whole grid. It should never be reached, since every row has its own limits.
    var minutes: Int {
        let longest = strikes.map { length(of: $0) + settlingLimit($0) + .seconds(60) }.max() ?? .seconds(60)
        let batches = (strikes.count + width - 1) / width
        return 1 + Int(longest * batches * rounds / .seconds(60))
    }
}
