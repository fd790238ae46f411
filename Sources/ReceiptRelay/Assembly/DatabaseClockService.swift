import RelayStore
import ServiceLifecycle

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
