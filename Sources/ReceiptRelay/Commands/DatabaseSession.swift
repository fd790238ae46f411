import ArgumentParser
import Foundation
import Logging
import Operations
import Postgres
import RelayStore

/// A database for the length of one command.
enum DatabaseSession {
    /// What a command ends with that finds so itself.
    static func refusal(_ refusal: ActRefusal) -> ExitCode {
        ConfigurationOption.complain(refusal.advice)
        return ExitCode(refusal.exitCode)
    }

    /// Performs an act as the account that runs the command.
    @discardableResult
    static func perform<Outcome>(
        _ act: Act<Outcome>, _ option: ConfigurationOption, reason: String? = nil
    ) async throws -> Outcome {
        try await run(option) { try await Operations(store: $0).perform(act, by: ShellUser.actor, reason: reason) }
    }

    /// Runs `body` with a store of two connections. What goes wrong is one line on standard error, and the exit code.
    ///
    /// - Parameter opensVault: false where what is private cannot be read or written anyway.
    static func run<T: Sendable>(
        _ option: ConfigurationOption, opensVault: Bool = true, _ body: @Sendable (RelayStore) async throws -> T
    ) async throws -> T {
        let settings = try option.settings()
        let url = try ConfigurationOption.reporting { try settings.databaseURL() }
        var configuration = PostgresConfiguration(connectionString: url)
        configuration.preparesStatements = try ConfigurationOption.reporting { try settings.preparesStatements() }
        // Nobody comes back to a command: it waits for a server that is slow, and where the first of several hosts is dead, for the next.
        configuration.connectionWait = .seconds(15) + configuration.failoverTime
        configuration.applicationName = "receipt-relay command"
        configuration.sharedConnections = 1
        configuration.sessionParameters = RelayStore.sessionParameters
        configuration.exclusiveConnections = 1
        let vault = Vault(try ConfigurationOption.reporting { try settings.wrappingKeys() })
        configuration.vault = vault
        let logger = Logger(label: "command", factory: { _ in SwiftLogNoOpLogHandler() })
        let pool = PostgresPool(configuration, logger: logger)
        let running = Task { await pool.run() }
        defer { running.cancel() }
        let store = RelayStore(
            pool: pool, vault: vault, instance: "command-\(ProcessInfo.processInfo.processIdentifier)", logger: logger)
        do {
            if opensVault { try await store.openVault(decides: false) }
            return try await body(store)
        } catch let refusal as OpsRefusal {
            ConfigurationOption.complain(refusal.advice)
            throw ExitCode(1)
        } catch let refusal as ActRefusal {
            throw Self.refusal(refusal)
        } catch let error as VaultError {
            ConfigurationOption.complain("\(error)")
            throw ExitCodes.configuration
        } catch let error as PostgresError where error.isUnavailable {
            ConfigurationOption.complain(DatabaseTrouble.line(error))
            throw ExitCode(69)
        } catch let error as DamagedSchema {
            ConfigurationOption.complain("\(error)")
            throw ExitCode(65)
        } catch let error as PostgresError where error.sqlState == "42P01" {
            let missing = (try? await store.missingTables()) ?? []
            guard missing.isEmpty else {
                ConfigurationOption.complain("\(DamagedSchema(missing))")
                throw ExitCode(65)
            }
            ConfigurationOption.complain(
                "the database has no schema yet, or an older one: run `receipt-relay migrate up` first")
            throw ExitCode(69)
        } catch let error as PostgresError where error.isStrayStatement {
            ConfigurationOption.complain(SettingError.poolerAdvice)
            throw ExitCodes.configuration
        } catch let error as PostgresError {
            ConfigurationOption.complain("\(error)")
            throw ExitCode(70)
        } catch let error as MigrationError {
            ConfigurationOption.complain("\(error)")
            throw ExitCode(65)
        }
    }
}
