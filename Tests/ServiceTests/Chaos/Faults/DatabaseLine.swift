import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The network between one copy and its database. Everything passes unless a trouble is set.
final class DatabaseLine: Sendable {
    enum Trouble: Sendable, Equatable {
        /// Every connection breaks, and no new one opens.
        case cut
        /// Nothing arrives on either side until this ends; then everything arrives.
        case silent
        /// The database receives and executes statements, but its answers do not arrive.
        case deaf
        /// Each piece arrives this much later.
        case slow(Duration)
        /// One answer in so many is lost with its connection, after the database has committed.
        case losesAnswers(oneIn: Int)
    }

    private enum Direction { case question, answer }
    private typealias State = NIOLockedValueBox<(troubles: [Trouble], lost: Int)>
    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    let port: Int
    private let database: Int
    private let state = State((troubles: [], lost: 0))

    /// - Parameter database: the database's port on this machine.
    init(to database: Int) async throws {
        self.database = database
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
        guard let port = server.channel.localAddress?.port else { throw HarnessError.failed("a line", []) }
        self.port = port
        Task { [state] in
            try await server.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in connections {
                        group.addTask { await Self.carry(connection, to: database, state) }
                    }
                }
            }
        }
    }

    func begin(_ trouble: Trouble) { state.withLockedValue { $0.troubles.append(trouble) } }

    func stop(_ trouble: Trouble) { state.withLockedValue { $0.troubles.removeAll { $0 == trouble } } }

    /// Number of lost answers.
    var lost: Int { state.withLockedValue(\.lost) }

    /// Breaks every connection. The line accepts and breaks new ones until the process ends: NIO traps if a server is
    /// cancelled while it accepts a connection.
    func end() { begin(.cut) }

    /// URL of the same database through this line.
    func url(of database: TestDatabase) -> String {
        let direct = database.url.replacing("127.0.0.1:\(self.database)", with: "127.0.0.1:\(port)")
        // Without encryption, since the line reads the answers.
        return direct + "?sslmode=disable&gssencmode=disable"
    }

    // MARK: One connection

    private static func carry(_ client: Connection, to database: Int, _ state: State) async {
        try? await client.executeThenClose { questions, toClient in
            guard !state.withLockedValue({ $0.troubles.contains(.cut) }) else { return }
            let server = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: "127.0.0.1", port: database) { channel in
                    channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
                }
            try await server.executeThenClose { answers, toServer in
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { try? await carry(questions, to: toServer, .question, state) }
                    group.addTask { try? await carry(answers, to: toClient, .answer, state) }
                    group.addTask {
                        while !state.withLockedValue({ $0.troubles.contains(.cut) }) {
                            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return }
                        }
                    }
                    await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    private static func carry(
        _ source: NIOAsyncChannelInboundStream<ByteBuffer>, to sink: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ direction: Direction, _ state: State
    ) async throws {
        for try await piece in source {
            try await wait(direction, state)
            if direction == .answer, isLost(piece, state) { return }
            try await sink.write(piece)
        }
        // The end of one side arrives no sooner than its data.
        try await wait(direction, state)
    }

    private static func wait(_ direction: Direction, _ state: State) async throws {
        for case .slow(let delay) in state.withLockedValue({ $0.troubles }) { try await Task.sleep(for: delay) }
        while state.withLockedValue({ $0.troubles.contains { holds($0, direction) } }) {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private static func holds(_ trouble: Trouble, _ direction: Direction) -> Bool {
        trouble == .silent || trouble == .deaf && direction == .answer
    }

    /// `ReadyForQuery` outside a transaction: the statement is executed and committed.
    private static let committed: [UInt8] = [UInt8(ascii: "Z"), 0, 0, 0, 5, UInt8(ascii: "I")]

    private static func isLost(_ answer: ByteBuffer, _ state: State) -> Bool {
        guard answer.readableBytesView.suffix(committed.count).elementsEqual(committed) else { return false }
        return state.withLockedValue { state in
            for case .losesAnswers(let count) in state.troubles where Int.random(in: 0..<count) == 0 {
                state.lost += 1
                return true
            }
            return false
        }
    }
}
