import ServiceLifecycle

/// A front's server, which answers its held polls as soon as it is told to go: it could not go before they are.
struct FrontService: Service {
    let server: any Service
    let onShutdown: @Sendable () -> Void

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await server.run()
        } onGracefulShutdown: {
            onShutdown()
        }
    }
}
