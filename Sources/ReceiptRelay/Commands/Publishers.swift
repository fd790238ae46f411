import ArgumentParser
import Relay
import RelayCore

struct Publishers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Adds and lists publishers: one database serves several, and none sees another's customers.",
        subcommands: [Add.self, List.self, UseCommonAccount.self], defaultSubcommand: List.self)

    static func check(_ name: String) throws {
        guard PublisherID.isValid(name) else { throw ValidationError("a publisher's id is \(PublisherID.rule)") }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Adds a publisher; one that is there already stays.")

        @Argument(help: "Its id, which is its appName and client_id too.")
        var name: String

        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            try Publishers.check(name)
            guard name != APIKey.allPublishers else {
                throw ValidationError(
                    "\(name) is what ops keys of every publisher are made with, and no publisher's id")
            }
        }

        func run() async throws {
            let isNew = try await DatabaseSession.perform(.add(publisher: PublisherID(name)), option)
            print(isNew ? "added \(name)" : "\(name) is there already")
        }
    }

    struct UseCommonAccount: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "use-common-account",
            abstract: "Gives a publisher that had an account of its own at Cleeng back to the common one.",
            discussion: """
                What is still pending, and whatever comes, goes to the common account from then on. Take the publisher out of the file that \
                \(Setting.publishersFile.name) names and restart all copies first: one that still has its account leaves its work alone \
                until it is restarted, and a start with the file gives the account back to it.
                """)

        @Argument(help: "The publisher's id.")
        var name: String

        @OptionGroup var option: ConfigurationOption

        func validate() throws { try Publishers.check(name) }

        func run() async throws {
            let had = try await DatabaseSession.perform(.useCommonAccount(PublisherID(name)), option)
            print(had ? "\(name) shares the common account" : "\(name) had no account of its own")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the publishers, with what each has.")

        @Flag(help: "As JSON.")
        var json = false

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let publishers = try await DatabaseSession.run(option) { try await $0.publishers.list(in: .all) }
            guard !json else { return try JSONOutput.write(publishers) }
            TextTable.write(
                publishers, Publisher.columns("id", "createdAt", "keys", "offers", "endpoints", "account"))
        }
    }
}
