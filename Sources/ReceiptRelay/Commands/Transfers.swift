import ArgumentParser
import Formats
import Relay
import RelayCore

struct Transfers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Subscriptions that passed from one email to another.", subcommands: [List.self],
        defaultSubcommand: List.self)

    struct List: ListCommand {
        static let configuration = CommandConfiguration(abstract: "Lists transfers with both sides, newest first.")

        @Option(help: "Only of this subscription.")
        var originalTransactionId: TransactionID?

        @Option(help: "Only with this email on either side.")
        var customerEmail: String?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        static let columns = OpsTransfer.columns(
            "at", "originalTransactionId", "from", "to", "fromValidationId", "toValidationId")

        func reader() throws -> PageReader<OpsTransfer, ValidationCursor> {
            let filter = TransferFilter(
                originalTransactionID: originalTransactionId,
                customer: customerEmail.map { CustomerID($0.trimmingSpace().asciiLowercased()) }, limit: page.limit,
                cursor: try page.cursor { ValidationCursor($0) })
            return { try await $0.ops.transfers(matching: filter, in: .all) }
        }
    }
}
