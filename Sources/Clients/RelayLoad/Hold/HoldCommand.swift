import ArgumentParser
import Foundation
import NIOCore
import NIOPosix

/// `relay-load hold`: many polls held at the same time.
struct HoldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold", abstract: "Opens a connection for each of many polls and keeps them until a signal.",
        discussion: """
            Says {"event":"open"} when every poll has been sent, {"event":"answered"} when every one has its answer, \
            and leaves when standard input ends.
            """)

    @OptionGroup var target: TargetOptions

    @Option(help: "A file of validation ids, one a line; they are used in turn.")
    var ids: String

    @Option(help: "How many polls.")
    var count = 10_000

    @Option(help: "Seconds that each asks to be held for.")
    var wait = 60

    func validate() throws {
        guard (1...60_000).contains(count) else { throw ValidationError("--count is 1 to 60000") }
    }

    private struct Report: Encodable {
        var event: String
        var polls: Int
        /// Final answers of status 200, all others, and polls whose connection was lost.
        var settled = 0
        var other = 0
        var lost = 0
        /// Microseconds since 1970.
        var answeredAt: Spread?
    }

    func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let client = try target.client(eventLoop: group.next())
        let ids = try TargetOptions.text(of: ids).split(whereSeparator: \.isWhitespace)
        guard !ids.isEmpty else { throw ValidationError("there are no ids in \(self.ids)") }
        let connections = try await connect(client)
        let (polls, wait) = (count, wait)
        let answers = connections.enumerated().map { $1.poll(ids[$0 % ids.count], wait: wait) }
        try report(Report(event: "open", polls: polls))
        let watch = Task { try await Self.watch(answers, polls: polls) }
        for await _ in InputLines.stream() {}
        for connection in connections { connection.channel.close(promise: nil) }
        try await watch.value
        try await group.shutdownGracefully()
    }

    private func connect(_ client: LoadClient) async throws -> [LoadConnection] {
        let (count, width) = (count, 128)
        return try await withThrowingTaskGroup(of: [LoadConnection].self) { group in
            for lane in 0..<width {
                group.addTask {
                    var opened: [LoadConnection] = []
                    for _ in stride(from: lane, to: count, by: width) { opened.append(try await client.connect()) }
                    return opened
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private static func watch(_ answers: [EventLoopFuture<Answer>], polls: Int) async throws {
        var summary = Report(event: "answered", polls: polls)
        var times: [Int64] = []
        for answer in answers {
            guard let answer = try? await answer.get() else {
                summary.lost += 1
                continue
            }
            let isSettled = answer.status == 200 && answer.field("status") != "pending"
            if isSettled { summary.settled += 1 } else { summary.other += 1 }
            times.append(answer.at)
        }
        summary.answeredAt = Spread(times)
        try report(summary)
    }
}
