import ServiceLifecycle

/// A front's server, which answers its held polls as soon as it is told to go: it could not go before they are.
struct FrontService: Service {
    let server: any Service
    let onShutdown: @Sendable () -> Void
    /// Waits for what goes on without its connection.
    let drain: @Sendable () async -> Void

    func run() async throws {
        do {
            try await withGracefulShutdownHandler {
                try await server.run()
            } onGracefulShutdown: {
                onShutdown()
            }
        } catch {
            await drain()
            throw error
        }
        await drain()
    }
}
