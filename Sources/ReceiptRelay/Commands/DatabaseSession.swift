import ArgumentParser
import Foundation
import Logging
import Postgres
import Relay

/// A database connection for the duration of one command.
enum DatabaseSession {
    /// Performs an act as the account that runs the command.
    @discardableResult
    static func perform<Outcome>(
        _ act: Act<Outcome>, _ option: ConfigurationOption, reason: String? = nil
    ) async throws -> Outcome {
        try await run(option) { try await Operations(store: $0).perform(act, by: ShellUser.actor, reason: reason) }
    }

    /// Runs `body` with a store of two connections.
    ///
    /// - Parameter opensVault: false if the command neither reads nor writes sealed values.
    static func run<T: Sendable>(
        _ option: ConfigurationOption, opensVault: Bool = true, _ body: @Sendable (RelayStore) async throws -> T
    ) async throws -> T {
        let settings = try option.settings()
        var configuration = PostgresConfiguration(connectionString: try settings.databaseURL())
        configuration.preparesStatements = try settings.preparesStatements()
        // A command is not retried, so it waits for a slow server. With several hosts it also waits until a dead one is
        // skipped.
        configuration.connectionWait = .seconds(15) + configuration.failoverTime
        configuration.applicationName = "receipt-relay command"
        configuration.sharedConnections = 1
        configuration.sessionParameters = RelayStore.sessionParameters
        configuration.exclusiveConnections = 1
        let vault = Vault(try settings.wrappingKeys())
        configuration.vault = vault
        let logger = Logger(label: "command", factory: { _ in SwiftLogNoOpLogHandler() })
        let pool = PostgresPool(configuration, logger: logger)
        let running = Task { await pool.run() }
        defer { running.cancel() }
        let store = RelayStore(
            pool: pool, vault: vault, instance: "command-\(ProcessInfo.processInfo.processIdentifier)", logger: logger,
            features: Features.stored,
            leeway: try settings.duration(.appleRenewalLeeway))
        do {
            if opensVault {
                try await store.encryption.openVault(decides: false)
                // The rows that a command writes carry the database's time as well.
                try await store.readClock()
            }
            return try await body(store)
        } catch let error as PostgresError where error.sqlState == "42P01" {
            let missing = (try? await store.schema.missingTables()) ?? []
            throw missing.isEmpty ? error : DamagedSchema(missing)
        }
    }
}

/// Explains why the database cannot be used: the message of libpq or of the server, and advice.
enum DatabaseTrouble {
    /// One line, which does not contain the password.
    static func line(_ error: PostgresError) -> String {
        "the database cannot be reached: \(error.reason); \(advice(error))"
    }

    /// Advice chosen by the message's text: libpq has no code for a failed connection attempt.
    private static func advice(_ error: PostgresError) -> String {
        let (reason, url) = (error.reason, Setting.databaseURL.name)
        if error.code == .invalidConfiguration { return "correct \(url)" }
        if reason.contains("role \"") && reason.contains("does not exist") {
            return "create the role (CREATE ROLE … LOGIN), or correct the user in \(url)"
        }
        if reason.contains("database \"") && reason.contains("does not exist") {
            return "create the database (CREATE DATABASE … OWNER …), or correct its name in \(url)"
        }
        if reason.contains("authentication failed") || reason.contains("no password supplied") {
            return "correct the user or the password in \(url)"
        }
        if reason.contains("no pg_hba.conf entry") {
            return "allow this host and user in the server's pg_hba.conf, or correct \(url)"
        }
        if reason.contains("Connection refused") || reason.contains("No such file or directory") {
            return "start the server, or correct host and port in \(url)"
        }
        if reason.contains("could not translate host name") { return "correct the host in \(url)" }
        return "check that the server runs and that \(url) names it"
    }
}

/// The operating system's user as an actor, for timelines and the audit log. A command requires nothing but access to
/// the database.
enum ShellUser {
    static var actor: Actor {
        Actor(
            name: "\(ProcessInfo.processInfo.environment["USER"] ?? NSUserName()) (command line)", scope: .all)
    }
}
