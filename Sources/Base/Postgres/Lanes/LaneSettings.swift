import Logging
import NIOConcurrencyHelpers

/// Dependencies and state that both lanes use.
struct LaneSettings: Sendable {
    let lane: PostgresLane
    let configuration: PostgresConfiguration
    let owner: EventLoopOwner
    let logger: Logger
    let observer: any PostgresObserver
    private let lastID = NIOLockedValueBox<UInt64>(0)
    private let metForeign = NIOLockedValueBox(false)

    init(
        _ lane: PostgresLane, _ configuration: PostgresConfiguration, owner: EventLoopOwner, logger: Logger,
        observer: any PostgresObserver
    ) {
        self.lane = lane
        self.configuration = configuration
        self.owner = owner
        var logger = logger
        logger[metadataKey: "lane"] = "\(lane.rawValue)"
        self.logger = logger
        self.observer = observer
    }

    var loop: EventLoop { owner.loop }

    /// See ``PostgresPool/hasMetForeignStatement``.
    var hasMetForeignStatement: Bool {
        get { metForeign.withLockedValue { $0 } }
        nonmutating set { metForeign.withLockedValue { $0 = newValue } }
    }

    func nextID() -> UInt64 {
        lastID.withLockedValue { last in
            last += 1
            return last
        }
    }

    var connections: Int {
        max(1, lane == .shared ? configuration.sharedConnections : configuration.exclusiveConnections)
    }

    /// Statements that set up a fresh session.
    var setUp: [EncodedStatement] {
        guard configuration.preparesStatements else { return [] }
        let (name, limit) =
            lane == .shared
            ? ("statement_timeout", configuration.statementTimeout)
            : ("idle_in_transaction_session_timeout", configuration.idleInTransactionTimeout)
        let milliseconds = limit / .milliseconds(1)
        let parameters = configuration.sessionParameters.sorted { $0.key < $1.key }.map {
            "SET \($0.key) = \($0.value)"
        }
        return (["SET \(name) = \(Int32(clamping: Int64(min(max(milliseconds, 1), 1e9))))"] + parameters)
            .map(EncodedStatement.init(plain:))
    }
}
