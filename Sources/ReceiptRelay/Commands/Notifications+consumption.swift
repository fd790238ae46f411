import ArgumentParser
import Relay
import RelayCore

extension Notifications {
    struct Consumption: ListCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists Apple's requests about refunds, and what was answered, newest first.")

        @Option(help: "Only those that are \(ConsumptionState.allCases.map(\.name).joined(separator: ", ")).")
        var state: String?

        @Option(help: "Only of this subscription.")
        var originalTransactionId: TransactionID?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        static let columns = OpsConsumption.columns(
            "id", "askedAt", "deadline", "state", "originalTransactionId", "applicationUsername", "reason", "lastError",
            "answer")

        func reader() throws -> PageReader<OpsConsumption, ValidationCursor> {
            let filter = ConsumptionFilter(
                state: try choice("--state", state, \.name), originalTransactionID: originalTransactionId,
                limit: page.limit, cursor: try page.cursor { ValidationCursor($0) })
            return { try await $0.consumption.list(matching: filter, in: .all) }
        }
    }
}
