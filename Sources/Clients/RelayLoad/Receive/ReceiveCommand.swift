import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// `relay-load receive`: webhook endpoints that accept messages, and endpoints that hang.
struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive", abstract: "Plays webhook endpoints on 127.0.0.1, each on a port of its own.",
        discussion: """
            Says {"event":"listening"} with its ports, {"event":"received"} for each line on standard input, after what has come \
            since the last one was written to the file, and leaves when standard input ends.
            """)

    @Option(help: "How many answer 200 at once.")
    var answering = 9

    @Option(help: "How many take a message and never answer.")
    var hanging = 1

    @Option(help: "Write one line of JSON for each message to this file, in place of what stands there.")
    var samples: String

    func validate() throws {
        guard (0...100).contains(answering), (0...100).contains(hanging), answering + hanging > 0 else {
            throw ValidationError("--answering and --hanging are 0 to 100 each, and not both 0")
        }
    }

    private struct Listening: Encodable {
        var event = "listening"
        var answering: [Int]
        var hanging: [Int]
    }

    private struct Received: Encodable {
        var event = "received"
        var messages: Int
        /// Body of the last message.
        var last: String?
    }

    func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let received = ReceivedMessages()
        var ports: [Bool: [Int]] = [:]
        for number in 0..<answering + hanging {
            let hangs = number >= answering
            ports[hangs, default: []].append(try await Self.listen(group.next(), hangs: hangs, received: received))
        }
        try report(Listening(answering: ports[false] ?? [], hanging: ports[true] ?? []))
        for await _ in InputLines.stream() {
            let (messages, last) = received.take()
            try write(messages, to: samples)
            try report(Received(messages: messages.count, last: last))
        }
        try await group.shutdownGracefully()
    }

    /// - Returns: the port.
    private static func listen(_ loop: any EventLoop, hangs: Bool, received: ReceivedMessages) async throws -> Int {
        let server = try await ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 1_024)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: false)
                    try channel.pipeline.syncOperations.addHandler(
                        NIOHTTPServerRequestAggregator(maxContentLength: 1 << 20))
                    try channel.pipeline.syncOperations.addHandler(
                        ReceiveHandler(port: channel.localAddress?.port ?? 0, hangs: hangs, received: received))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return server.localAddress?.port ?? 0
    }
}
