import Logging
import NIOConcurrencyHelpers
import Postgres
import Relay
import RelayCore
import ServiceLifecycle
import Telemetry

/// Compares this copy's publisher accounts with those in the database. Records its own accounts there, and warns if
/// this copy lacks one.
struct AccountWatch: Service {
    let store: RelayStore
    let roster: AccountRoster
    /// Publishers whose own accounts this copy has.
    let own: Set<PublisherID>
    let logger: Logger
    private let missing = NIOLockedValueBox<Set<PublisherID>>([])

    private static let interval = Duration.seconds(5)

    init(store: RelayStore, roster: AccountRoster, own: Set<PublisherID>, logger: Logger, registry: PrometheusRegistry)
    {
        self.store = store
        self.roster = roster
        self.own = own
        self.logger = logger
        registry.registerGauge(
            "relay_accounts_missing",
            help: "Publishers with an account of their own that this process was not given: it leaves their work alone."
        ) { [missing] in Double(missing.withLockedValue { $0.count }) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var (isAdopted, isRead) = (false, false)
            while !Task.isCancelled {
                do {
                    if !isAdopted { try await adopt() }
                    isAdopted = true
                    note(try await roster.read(store).subtracting(own))
                    isRead = true
                } catch let error as PostgresError where error.isRefusal && isAdopted {
                    logger.warning("own accounts cannot be read", metadata: ["error": "\(error)"])
                } catch {
                    // The database does not answer, or has no schema yet. Other services log it.
                }
                try? await Task.sleep(for: isRead ? Self.interval : .milliseconds(250))
            }
        }
    }

    /// Records this copy's accounts, once per process: a publisher that is moved to the common account later stays
    /// there.
    private func adopt() async throws {
        guard !own.isEmpty else { return }
        for publisher in try await store.publishers.adoptAccounts(of: own) {
            logger.notice(
                "a publisher has an account of its own from now on: copies without it leave its work alone",
                metadata: ["publisher": "\(publisher)"])
        }
        for publisher in try await store.publishers.strangers(among: own) {
            logger.warning(
                "\(Setting.publishersFile.name) names a publisher that was never added: run `receipt-relay publishers add`, or mend its name",
                metadata: ["publisher": "\(publisher)"])
        }
    }

    private func note(_ now: Set<PublisherID>) {
        let before = missing.withLockedValue { missing in
            defer { missing = now }
            return missing
        }
        for publisher in now.subtracting(before).sorted() {
            logger.error(
                "a publisher has an account of its own that this copy was not given: its work is left to others; add it to \(Setting.publishersFile.name), or run `receipt-relay publishers use-common-account`",
                metadata: ["publisher": "\(publisher)"])
        }
    }
}
