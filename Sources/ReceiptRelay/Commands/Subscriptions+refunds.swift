import ArgumentParser
import Relay
import RelayCore

extension Subscriptions {
    struct Refunds: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Asks the App Store for all refunds of a subscription's customer, and takes them in.",
            discussion: """
                What was refunded gives no access from then on. Takes the settings of the service, its key for the App Store Server API among \
                them. Exits 1 where the App Store does not know the subscription.
                """)

        @Argument(help: "The subscription's id, as `subscriptions list` shows it.")
        var id: String

        @Flag(help: "As JSON.")
        var json = false

        @OptionGroup var reason: ReasonOption
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            guard let name = SubscriptionCursor(id)?.name else { throw ActRefusal.unknown(.subscription) }
            let reason = reason.text
            let lookup = try await AppStoreSession.run(option) { store, access in
                try await Operations(store: store).perform(
                    .refunds(of: name, access), by: ShellUser.actor, reason: reason)
            }
            if json { try JSONOutput.write { $0.value(lookup) } } else { print(lookup.words) }
            if !lookup.isKnown { throw ExitCode(1) }
        }
    }
}
