import Foundation
import Logging
import Metrics
import NIOCore
import NIOPosix
import Postgres
import RelayStore
import ServiceLifecycle
import Telemetry
import UnixSignals

/// Something that runs until it is cancelled, as a service.
struct ClosureService: Service {
    let body: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown { await body() }
    }
}

/// Asks the database what time it is, every few seconds.
struct DatabaseClockService: Service {
    let store: RelayStore
    let interval: Duration = .seconds(5)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await store.readClock()
                try? await Task.sleep(for: store.clock.now == nil ? .milliseconds(200) : interval)
            }
        }
    }
}

/// The pool for the length of the process: the last to go, since everybody else still needs it on the way out.
struct PoolService: Service {
    let pool: PostgresPool

    func run() async throws {
        await cancelWhenGracefulShutdown { await pool.run() }
    }
}

/// Sees to it that the process goes when it is told to: a second signal ends it at once, and so do ten seconds after the first.
struct ShutdownWatch: Sendable {
    static let limit: Duration = .seconds(10)
    let logger: Logger

    func run() async {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        var count = 0
        for await signal in signals {
            count += 1
            guard count == 1 else {
                logger.critical("told to go a second time: ending at once", metadata: ["reason": "\(signal)"])
                exit(130)
            }
            logger.notice("told to go: ending cleanly", metadata: ["reason": "\(signal)"])
            Task {
                try? await Task.sleep(for: Self.limit)
                logger.critical("not ended within ten seconds: ending now; leases run out by themselves")
                exit(1)
            }
        }
    }
}

/// How long the event loops keep work waiting. Whoever blocks one keeps all of its connections waiting.
struct EventLoopWatch: Service {
    private static let interval = Duration.seconds(1)

    init(registry: PrometheusRegistry) {
        registry.describe(
            "event_loop_lag",
            help: "How long work waited for its event loop before it ran; each loop is asked every second.")
    }

    func run() async throws {
        let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
        let lag = Timer(label: "event_loop_lag")
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                for loop in loops {
                    let begin = NIODeadline.now()
                    loop.execute { lag.recordNanoseconds((NIODeadline.now() - begin).nanoseconds) }
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}
