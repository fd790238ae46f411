import AppStoreSimulation
import AppleStore
import ArgumentParser
import Foundation

/// `relay-load verify`: the cost of verifying a purchase on one core, without anything else.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Reads and verifies receipts, signed transactions and notifications.")

    @Option(help: "Seconds for each of them.")
    var seconds = 1.0

    @Option(help: "How many purchases the receipt holds; these are the bytes of the largest one seen in the field.")
    var purchases = 294

    func validate() throws {
        guard seconds > 0, (1...10_000).contains(purchases) else {
            throw ValidationError("there would be nothing to do")
        }
    }

    private struct Report: Encodable {
        var what: String
        var bytes: Int
        /// Mean microseconds of one purchase: with its signature verified, and only read.
        var verified: Double
        var read: Double
        /// The first one of a process, before any certificate is cached.
        var first: Double
    }

    func run() async throws {
        let goods = try VerifyGoods(purchases: purchases)
        for good in goods.all {
            let first = try await microseconds(1) { try await good.verify(goods.trust()) }
            let trust = try goods.trust()
            try await good.verify(trust)
            try report(
                Report(
                    what: good.name, bytes: good.bytes,
                    verified: try await microseconds(nil) { try await good.verify(trust) },
                    read: try await microseconds(nil) { try good.read() }, first: first))
        }
    }

    /// Mean over as many runs as fit into the time, or over `count`.
    private func microseconds(_ count: Int?, _ body: () async throws -> Void) async throws -> Double {
        let clock = ContinuousClock()
        let began = clock.now
        var done = 0
        while count.map({ done < $0 }) ?? (began.duration(to: clock.now) < .seconds(seconds)) {
            try await body()
            done += 1
        }
        return began.duration(to: clock.now) / .microseconds(1) / Double(done)
    }
}
