import ArgumentParser
import Instrumentation
import Logging
import Metrics
import Telemetry
import Traces

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs the app front, the ops front and the workers, or some of them.",
        discussion: """
            Any number of copies may run over one database. SIGTERM and SIGINT end it cleanly within ten seconds; a second one at once.
            """)

    enum Role: String, ExpressibleByArgument, CaseIterable {
        case all, front, worker
    }

    @Option(help: "all, front (takes purchases and answers polls) or worker (pursues them).")
    var role = Role.all

    @OptionGroup var option: ConfigurationOption

    func run() async throws {
        let reader = try option.settings()
        let settings = try ServeSettings(reader)
        LoggingSystem.bootstrap { label in
            var handler = JSONLogHandler(label: label)
            handler.logLevel = settings.logLevel
            handler.metadataProvider = .trace
            return handler
        }
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        let spans = settings.tracing.target.map { _ in SpanBuffer() }
        InstrumentationSystem.bootstrap(RelayTracer(buffer: spans, sampling: settings.tracing.sampling))
        try await Assembly(settings: settings, role: role, registry: registry, spans: spans).run()
    }
}
