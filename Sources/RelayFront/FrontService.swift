import Hummingbird
import ServiceLifecycle

/// A front's server, which answers its held polls as soon as it is told to go: it could not go before they are.
struct FrontService<Responder: HTTPResponder>: Service
where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
    let application: Application<Responder>
    let onShutdown: @Sendable () -> Void

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await application.run()
        } onGracefulShutdown: {
            onShutdown()
        }
    }
}
