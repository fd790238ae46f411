import Foundation

/// How the grid is run. The environment is read here and nowhere else:
///
/// | variable | means |
/// | --- | --- |
/// | `RELAY_CHAOS_FULL` | any value: faults as long as the promise names them (a minute of kills, half a minute without a database), and the sixty seconds that an app really waits. Without: seconds |
/// | `RELAY_CHAOS_ONLY` | the faults to try, comma-separated; all where it is not set |
/// | `RELAY_CHAOS_ROUNDS` | how often the whole grid is run, 1 unless told otherwise |
/// | `RELAY_CHAOS_SECONDS` | the length of every fault that has one |
/// | `RELAY_CHAOS_WIDTH` | how many faults are tried at the same time, each on a service of its own; 4, in full 3 |
struct ChaosSettings: Sendable {
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    var rounds: Int
    var faults: [Fault]
    var isFull: Bool
    var width: Int
    private var seconds: Int?

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
        let names = (environment["RELAY_CHAOS_ONLY"] ?? "").split(separator: ",")
        faults = try names.map { name in
            guard let fault = Fault(rawValue: name.trimmingCharacters(in: .whitespaces)) else {
                let all = Fault.allCases.map(\.rawValue).joined(separator: ", ")
                throw Malformed(description: "RELAY_CHAOS_ONLY: no fault is called \(name); there are \(all)")
            }
            return fault
        }
        if faults.isEmpty { faults = Fault.allCases }
    }

    func length(of fault: Fault) -> Duration {
        let (short, full) = fault.seconds
        return .seconds(seconds ?? (isFull ? full : short))
    }

    /// How long an app waits before it is told that its purchase failed.
    func appPatience(_ fault: Fault) -> Duration {
        isFull ? .seconds(60) : max(.seconds(15), length(of: fault) + .seconds(7))
    }

    /// How long a row may take to come to rest once its fault is over.
    func settlingLimit(_ fault: Fault) -> Duration { appPatience(fault) + length(of: fault) + .seconds(25) }

    /// For all of it, and not to be reached: every row has bounds of its own.
    var minutes: Int {
        let longest = faults.map { length(of: $0) + settlingLimit($0) + .seconds(60) }.max() ?? .seconds(60)
        let batches = (faults.count + width - 1) / width
        return 1 + Int(longest * batches * rounds / .seconds(60))
    }
}
