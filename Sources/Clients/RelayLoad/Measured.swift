import Foundation
import NIOCore

/// Microseconds since 1970 by this machine's clock, which the database and the simulator use too.
func microsecondsNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}

/// Distribution of a set of times.
struct Spread: Encodable, Sendable {
    var count: Int
    var min: Int64
    var p50: Int64
    var p90: Int64
    var p99: Int64
    var max: Int64

    /// Zeros where there are no values.
    init(_ values: [Int64]) {
        let sorted = values.sorted()
        func at(_ share: Double) -> Int64 {
            sorted.isEmpty ? 0 : sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * share))]
        }
        count = sorted.count
        min = sorted.first ?? 0
        p50 = at(0.5)
        p90 = at(0.9)
        p99 = at(0.99)
        max = sorted.last ?? 0
    }
}

/// Writes one line of JSON to standard output, unbuffered, because the reader waits for it.
func report(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    FileHandle.standardOutput.write(try encoder.encode(value) + Data([UInt8(ascii: "\n")]))
}

/// Writes one line of JSON for each sample, replacing the file's content.
func write(_ samples: [some Encodable], to path: String) throws {
    let encoder = JSONEncoder()
    var lines = Data()
    for sample in samples { lines += try encoder.encode(sample) + Data([UInt8(ascii: "\n")]) }
    try lines.write(to: URL(fileURLWithPath: path))
}
