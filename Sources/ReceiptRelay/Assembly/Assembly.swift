import Foundation
import Logging
import NIOCore
import Relay
import RelayCore
import ServiceLifecycle
import Telemetry
import Traces
import UnixSignals

/// Creates all parts of a process from its settings and connects them.
struct Assembly: Sendable {
    let settings: ServeSettings
    let role: Serve.Role
    let registry: PrometheusRegistry
    /// Nil: no spans are recorded.
    let spans: SpanBuffer?
    let logger = Logger(label: "relay")

    func run() async throws {
        try await PortCheck.run(listeningAddresses)
        Task { await ShutdownWatch(logger: logger).run() }
        let clients = OutboundClients(settings)
        do {
            try await run(clients)
        } catch {
            await clients.shutDown()
            throw error
        }
        await clients.shutDown()
        logger.notice("ended")
    }

    /// Runs all services until the process must end. They start in the order of the list and stop in the reverse one.
    private func run(_ clients: OutboundClients) async throws {
        let parts = sharedParts(clients)
        let readiness = ReadinessWatch(
            store: parts.store,
            probes: role == .front ? [.accept] : role == .worker ? [.claim] : [.accept, .claim], logger: logger)
        var working: [any Service] = []
        var arrivals: PurchaseArrivals?
        if role != .front {
            let (pursuits, ledgers) = self.pursuits(parts)
            arrivals = PurchaseArrivals(pursuits)
            working = workers(parts, pursuits, ledgers)
        }
        let intake = role == .worker ? nil : intake(parts, arrivals)
        let fronts = try await fronts(parts, intake, readiness)
        // The last services stop at the same time: each may take its grace period, but all have ten seconds together.
        // The ops front reports meanwhile that this process ends.
        let last = SimultaneousServices(services: working + fronts.apps) { readiness.end() }
        let services = foundation(parts, readiness) + reporters(parts) + fronts.others + [last]
        logStart(parts, acceptsPurchases: intake != nil)
        let group = ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm, .sigint],
                logger: quietLogger))
        do {
            try await group.run()
        } catch {
            logger.critical("ended by an error", metadata: ["error": "\(error)"])
            await intake?.drain()
            throw Failure(Self.advice(error), 70)
        }
        await intake?.drain()
    }

    private func logStart(_ parts: SharedParts, acceptsPurchases: Bool) {
        for warning in acceptsPurchases ? settings.warnings : settings.addressWarnings { logger.warning("\(warning)") }
        logger.notice("starting", metadata: ["role": "\(role.rawValue)", "instance": "\(parts.store.memory.instance)"])
        for target in settings.cleengTargets {
            var metadata: Logger.Metadata = ["environment": "\(target.environment)", "host": "\(target.host)"]
            if let publisher = target.publisher { metadata["publisher"] = "\(publisher)" }
            logger.notice("purchases go to Cleeng", metadata: metadata)
        }
    }

    /// Advice on an error that ended the service group: nearly always an address that cannot be bound.
    private static func advice(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)".split(separator: "\n").joined(separator: " ") }
        let settings = [Setting.httpHost, .httpPort, .opsHost, .opsPort].map(\.name).joined(separator: ", ")
        return "cannot listen (\(String(cString: strerror(error.errnoCode)))): look at \(settings)"
    }

    private var listeningAddresses: [PortCheck.Address] {
        let ops = PortCheck.Address(host: settings.opsHost, port: settings.opsPort, settings: [.opsHost, .opsPort])
        guard role != .worker else { return [ops] }
        return [
            PortCheck.Address(host: settings.httpHost, port: settings.httpPort, settings: [.httpHost, .httpPort]), ops,
        ]
    }

    /// Logger of the service group, which otherwise logs every step of every service.
    private var quietLogger: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }
}
