import ServiceLifecycle

/// Something that runs until it is cancelled, as a service.
struct ClosureService: Service {
    let body: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown { await body() }
    }
}
