import Metrics
import NIOCore
import NIOPosix
import ServiceLifecycle
import Telemetry

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
