import Foundation

/// How the grid is run. The environment is read here and nowhere else:
///
/// | variable | means |
/// | --- | --- |
/// | `RELAY_CHAOS_FULL` | any value: faults as long as the promise names them (a minute of kills, half a minute without a database), and the sixty seconds that an app really waits. Without: seconds |
/// | `RELAY_CHAOS_ONLY` | the rows to try, comma-separated; `a+b` is both at once, `pairs` all pairs that are tried. Each single fault where it is not set |
/// | `RELAY_CHAOS_ROUNDS` | how often the whole grid is run, 1 unless told otherwise |
/// | `RELAY_CHAOS_SECONDS` | the length of every fault that has one |
/// | `RELAY_CHAOS_LOGS` | a folder where the logs of the copies of rows that fail are written |
/// | `RELAY_CHAOS_WIDTH` | how many faults are tried at the same time, each on a service of its own; 4, in full 3 |
struct ChaosSettings: Sendable {
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    var rounds: Int
    var strikes: [Strike]
    /// Whose copies are killed while they send notifications.
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
        // What `FailoverTests` do anyway is too much for a machine that all tests share.
        if names.isEmpty { strikes = Strike.single.filter { isFull || $0.ground != .pair } }
    }

    func length(of strike: Strike) -> Duration { strike.faults.map { length(of: $0) }.max() ?? .zero }

    func length(of fault: Fault) -> Duration {
        let (short, full) = fault.seconds
        return .seconds(seconds ?? (isFull ? full : short))
    }

    /// How long an app waits before it is told that its purchase failed.
    func appPatience(_ strike: Strike) -> Duration {
        isFull ? .seconds(60) : max(.seconds(15), length(of: strike) + .seconds(7))
    }

    /// How long a row may take to come to rest once its fault is over.
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

    /// For all of it, and not to be reached: every row has bounds of its own.
    var minutes: Int {
        let longest = strikes.map { length(of: $0) + settlingLimit($0) + .seconds(60) }.max() ?? .seconds(60)
        let batches = (strikes.count + width - 1) / width
        return 1 + Int(longest * batches * rounds / .seconds(60))
    }
}
