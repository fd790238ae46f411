import Foundation
import Logging
import Metrics
import NIOCore
import NIOPosix
import Relay
import ServiceLifecycle
import Telemetry
import UnixSignals

/// A service that runs a closure until its task is cancelled.
struct ClosureService: Service {
    let body: @Sendable () async -> Void

    /// A service that repeats a step.
    ///
    /// - Parameter step: returns the pause until the next run.
    static func repeating(_ step: @escaping @Sendable () async -> Duration) -> ClosureService {
        ClosureService {
            while !Task.isCancelled {
                let pause = await step()
                try? await Task.sleep(for: pause)
            }
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await body() }
    }
}

/// Services that stop at the same time, so that their grace periods do not add up.
struct SimultaneousServices: Service {
    let services: [any Service]
    /// Called when they begin to stop.
    let onShutdown: @Sendable () -> Void

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup { group in
                for service in services { group.addTask { try await service.run() } }
                // If one service ends by itself, all end, as in a service group.
                while try await group.next() != nil, Task.isShuttingDownGracefully {}
                group.cancelAll()
            }
        } onGracefulShutdown: {
            onShutdown()
        }
    }
}

/// Ends the process at a second signal, or ten seconds after the first.
struct ShutdownWatch: Sendable {
    static let limit: Duration = .seconds(10)
    let logger: Logger

    func run() async {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        var count = 0
        for await signal in signals {
            count += 1
            guard count == 1 else {
                logger.critical("second signal: ending at once", metadata: ["reason": "\(signal)"])
                exit(130)
            }
            logger.notice("signal received: ending cleanly", metadata: ["reason": "\(signal)"])
            Task {
                try? await Task.sleep(for: Self.limit)
                logger.critical("not ended within ten seconds: ending now; leases run out by themselves")
                exit(1)
            }
        }
    }
}

extension ClosureService {
    /// Reads the database's time every few seconds.
    static func databaseClock(_ store: RelayStore) -> ClosureService {
        .repeating {
            try? await store.readClock()
            return store.memory.clock.now == nil ? .milliseconds(200) : .seconds(5)
        }
    }

    /// Measures how long work waits for its event loop. Code that blocks a loop delays all of its connections.
    static func eventLoopWatch(_ registry: PrometheusRegistry) -> ClosureService {
        registry.describe(
            "event_loop_lag",
            help: "How long work waited for its event loop before it ran; each loop is asked every second.")
        let lag = Timer(label: "event_loop_lag")
        return .repeating {
            for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
                let begin = NIODeadline.now()
                loop.execute { lag.recordNanoseconds((NIODeadline.now() - begin).nanoseconds) }
            }
            return .seconds(1)
        }
    }
}
