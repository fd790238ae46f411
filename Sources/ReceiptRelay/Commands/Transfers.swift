import ArgumentParser
import Operations
import RelayCore
import RelayStore

struct Transfers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Subscriptions that passed from one email to another.", subcommands: [List.self],
        defaultSubcommand: List.self)

    static var columns: [Field<OpsTransfer>] {
        OpsTransfer.columns("at", "originalTransactionId", "from", "to", "fromValidationId", "toValidationId")
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists transfers with both sides, newest first.")

        @Option(help: "Only of this subscription.")
        var originalTransactionId: TransactionID?

        @Option(help: "Only with this email on either side.")
        var customerEmail: String?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        func validate() throws { try page.check { ValidationCursor($0) != nil } }

        func run() async throws {
            let filter = TransferFilter(
                originalTransactionID: originalTransactionId,
                customer: customerEmail.map { CustomerID($0.trimmingSpace().asciiLowercased()) }, limit: page.limit,
                cursor: page.cursor.flatMap { ValidationCursor($0) })
            try page.write(
                try await DatabaseSession.run(option) { try await $0.transfers(matching: filter, in: .all) },
                columns: Transfers.columns)
        }
    }
}
