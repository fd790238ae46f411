import ArgumentParser
import RelayCore
import RelayStore

struct Transfers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Subscriptions that passed from one email to another.", subcommands: [List.self],
        defaultSubcommand: List.self)

    static let columns = ["AT", "ORIGINAL TRANSACTION", "FROM", "TO", "TAKEN FROM", "GIVEN TO"]

    static func row(_ one: OpsTransfer) -> [String] {
        [
            one.at.rfc3339, one.name.originalTransactionID.text, one.from.text, one.to.text, "\(one.fromValidation)",
            "\(one.toValidation)",
        ]
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
            let (key, customer) = (
                originalTransactionId, customerEmail.map { CustomerID($0.trimmingSpace().asciiLowercased()) }
            )
            let (limit, cursor) = (page.limit, page.cursor.flatMap { ValidationCursor($0) })
            let (items, next) = try await DatabaseSession.run(option) {
                try await $0.transfers(
                    originalTransactionID: key, customer: customer, limit: limit, cursor: cursor, in: .all)
            }
            try page.write(
                items, next: next, columns: Transfers.columns, row: Transfers.row,
                json: { one in
                    [
                        "at": one.at.rfc3339, "originalTransactionId": one.name.originalTransactionID.text,
                        "environment": one.name.environment.text, "publisher": one.name.publisher.text,
                        "from": one.from.text, "to": one.to.text,
                        "fromValidationId": "\(one.fromValidation)",
                        "toValidationId": "\(one.toValidation)",
                    ]
                })
        }
    }
}
