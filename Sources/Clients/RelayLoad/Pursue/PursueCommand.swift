import ArgumentParser
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// `relay-load pursue`: complete pursuits, `width` at a time.
struct PursueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pursue", abstract: "Posts purchases and holds a poll for each until it is settled.")

    @OptionGroup var target: TargetOptions

    @Option(help: "The body of a purchase, with {digits} and {digits64} where its number goes.")
    var template: String

    @Option(help: "The number of the first purchase; the next ones count up.")
    var first = 1

    @Option(help: "How many purchases at most.")
    var count = Int.max

    @Option(help: "Begin no purchase after this many seconds.")
    var seconds = 3_600.0

    @Option(help: "How many purchases are under way at once, each on a connection of its own.")
    var width = 64

    @Option(help: "Seconds that a poll asks to be held for.")
    var wait = 30

    @Option(help: "Write one line of JSON for each purchase to this file.")
    var samples: String?

    func validate() throws {
        guard (1...10_000).contains(width) else { throw ValidationError("--width is 1 to 10000") }
        guard count >= 1, first >= 0, seconds > 0 else { throw ValidationError("there would be nothing to do") }
    }

    private struct Report: Encodable {
        var purchases: Int
        var seconds: Double
        var perSecond: Double
        var polls: Int
        var statuses: [String: Int]
        /// Microseconds from sending the purchase to its 202, and to the final answer.
        var accept: Spread
        var settle: Spread
    }

    func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let purchaser = Purchaser(
            client: try target.client(eventLoop: group.next()),
            template: try PurchaseTemplate(TargetOptions.text(of: template)), wait: wait)
        let (last, first, taken) = (count, first, NIOLockedValueBox(0))
        let end = ContinuousClock.now + .seconds(seconds)
        let began = microsecondsNow()
        let purchases = try await withThrowingTaskGroup(of: [PostedPurchase].self) { group in
            for _ in 0..<width {
                group.addTask {
                    try await purchaser.run {
                        guard ContinuousClock.now < end else { return nil }
                        return taken.withLockedValue { taken in
                            guard taken < last else { return nil }
                            taken += 1
                            return first + taken - 1
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let elapsed = Double(microsecondsNow() - began) / 1_000_000
        try await group.shutdownGracefully()
        if let samples { try write(purchases, to: samples) }
        try report(
            Report(
                purchases: purchases.count, seconds: elapsed, perSecond: Double(purchases.count) / elapsed,
                polls: purchases.reduce(0) { $0 + $1.polls },
                statuses: purchases.reduce(into: [:]) { $0[$1.status, default: 0] += 1 },
                accept: Spread(purchases.map { $0.acceptedAt - $0.postedAt }),
                settle: Spread(purchases.map { $0.knownAt - $0.postedAt })))
    }
}
