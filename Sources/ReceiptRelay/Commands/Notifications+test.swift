import AppStoreServer
import AppleStore
import ArgumentParser
import AsyncHTTPClient
import Logging
import OutboundHTTP
import Relay
import RelayCore

extension Notifications {
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Has the App Store send a test notification, and says whether it came in here.",
            discussion: """
                The App Store sends it to the URL that App Store Connect has for the environment. Takes the settings of the service, its key for \
                the App Store Server API among them. Waits about 20 seconds. Exits 1 where the notification did not come in here.
                """)

        @Option(help: "Production or Sandbox.")
        var environment: String

        @Option(help: "The app, where RELAY_APPLE_BUNDLE_IDS names several.")
        var bundleId: BundleID?

        @Flag(help: "As JSON.")
        var json = false

        @OptionGroup var reason: ReasonOption
        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            guard ["Production", "Sandbox"].contains(environment) else {
                throw ValidationError("--environment is Production or Sandbox")
            }
        }

        func run() async throws {
            let (app, environment, reason) = (bundleId, StoreEnvironment(environment), reason.text)
            let tested = try await AppStoreSession.run(option) { store, access in
                try await Operations(store: store).perform(
                    .testNotification(of: app, in: environment, access), by: ShellUser.actor, reason: reason)
            }
            if json {
                try JSONOutput.write { $0.value(tested) }
            } else {
                for attempt in tested.attempts { print("\(attempt.at.rfc3339)  \(attempt.result)") }
                print(tested.words)
            }
            if tested.outcome != .received { throw ExitCode(1) }
        }
    }
}

/// A database connection and access to the App Store Server API, for the duration of one command.
enum AppStoreSession {
    /// - Parameter body: receives nil if no key for the API is configured.
    static func run<T: Sendable>(
        _ option: ConfigurationOption,
        _ body: @escaping @Sendable (RelayStore, AppStoreAccess?) async throws -> T
    ) async throws -> T {
        let reader = try option.settings()
        let apple = try AppleSettings(reader)
        let settings = try AppStoreSettings.read(reader, scope: apple.scope)
        let timeout = try reader.duration(.upstreamTimeout)
        let trust = ChainOfTrust(apple.roots)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .outbound())
        let access = settings.map { settings in
            AppStoreAccess(
                client: AppStoreServerClient(
                    urls: settings.urls, credentials: settings.credentials, timeout: timeout, httpClient: client,
                    logger: Logger(label: "command", factory: { _ in SwiftLogNoOpLogHandler() })),
                policy: NotificationPolicy(trust: trust, scope: apple.scope, sharedSecret: apple.sharedSecret),
                trust: trust, scope: apple.scope)
        }
        let value: T
        do {
            value = try await DatabaseSession.run(option) { store in
                try await reader.roster.read(store)
                return try await body(store, access)
            }
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
        return value
    }
}
