import ArgumentParser
import Formats
import Relay
import RelayCore

struct Validations: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What ops sees of validations, and does with them, from a terminal.",
        subcommands: [List.self, Show.self, Retry.self, Replay.self, Abandon.self], defaultSubcommand: List.self)

    struct List: ListCommand {
        static let configuration = CommandConfiguration(abstract: "Lists validations, newest first.")

        @Option(help: "pending, granted, rejected, timed_out, transferred or revoked.")
        var status: String?

        @Option(help: "Only those accepted at least this long ago.")
        var olderThanSeconds: Int?

        @Option(help: "Only this customer's, without regard to case.")
        var customerEmail: String?

        @Option(help: "Only this offer's.")
        var offerId: OfferID?

        @Option(help: "Only of this subscription.")
        var originalTransactionId: TransactionID?

        @Flag(help: "Only those parked for an operator.")
        var parked = false

        @Flag(help: "Only those that Cleeng has not taken yet, oldest first.")
        var waiting = false

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        static let columns = ListedValidation.columns(
            "validationId", "status", "receivedAt", "offerId", "customerEmail", "parked")

        func reader() throws -> PageReader<ListedValidation, ValidationCursor> {
            let status: ValidationStatus? = try choice("--status", status, \.name)
            guard !(parked && waiting) else { throw ValidationError("--parked and --waiting are two lists") }
            guard (olderThanSeconds ?? 0) >= 0 else { throw ValidationError("--older-than-seconds is not negative") }
            let filter = ValidationFilter(
                status: status, olderThan: olderThanSeconds.map { .seconds($0) },
                customer: customerEmail.map { CustomerID($0.trimmingSpace().asciiLowercased()) }, offerID: offerId,
                selection: parked ? .parked : waiting ? .waiting : .all,
                originalTransactionID: originalTransactionId, limit: page.limit,
                cursor: try page.cursor { ValidationCursor($0) })
            return { try await $0.ops.validations(matching: filter, in: .all) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows one validation with its timeline.")

        @Argument var validationId: String
        @Flag(help: "As JSON.") var json = false
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let id = try Validations.parse(validationId)
            guard let detail = try await DatabaseSession.run(option, { try await $0.ops.detail(id, in: .all) }) else {
                throw OpsRefusal.unknown
            }
            guard !json else { return try JSONOutput.write(detail) }
            for field in Self.facts {
                guard let text = field.text(detail) else { continue }
                let label = field.label.prefix(1).lowercased() + field.label.dropFirst()
                print("\(label)\(String(repeating: " ", count: max(1, 17 - label.count)))\(text)")
            }
            print("")
            TextTable.write(
                detail.timeline, ValidationDetail.Entry.columns("at", "event", "upstreamStatus", "latencyMs", "detail"))
        }

        private static var facts: [Field<ValidationDetail>] {
            ValidationDetail.columns(
                "validationId", "status", "reason", "customerEmail", "offerId", "receivedAt", "deadline", "settledAt",
                "expiresAt", "originalTransactionId", "transactionId", "environment", "productId", "appType",
                "couponCode", "receiptReadable", "verification", "traceId", "driver", "entitledBefore", "attempts",
                "evidence", "nextStepAt", "parked", "transfer")
        }
    }

    /// Arguments of both actions.
    struct Action: ParsableArguments {
        @Argument var validationId: String
        @OptionGroup var reason: ReasonOption
        @Flag(help: "Shows the validation as JSON.") var json = false
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Sends a purchase to Cleeng once more.")

        @OptionGroup var action: Action
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            try await Validations.act(action, option, Act.retry) {
                "it is in line to be sent again; `receipt-relay validations show \($0)` tells how it goes"
            }
        }
    }

    struct Abandon: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends a pursuit by hand: rejected, with the reason `abandoned`.")

        @OptionGroup var action: Action
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            try await Validations.act(action, option, Act.abandon) { "abandoned \($0)" }
        }
    }

    fileprivate static func parse(_ text: String) throws -> ValidationID {
        guard let id = ValidationID(text) else { throw ValidationError("a validation id is 38 hexadecimal digits") }
        return id
    }

    fileprivate static func act(
        _ action: Action, _ option: ConfigurationOption, _ make: (ValidationID) -> Act<Void>,
        message: (ValidationID) -> String
    ) async throws {
        let id = try parse(action.validationId)
        let act = make(id)
        let reason = action.reason.text
        let validation = try await DatabaseSession.run(option) { store in
            try await Operations(store: store).perform(act, by: ShellUser.actor, reason: reason)
            return try await store.purchases.validation(id)
        }
        guard action.json, let validation else { return print(message(id)) }
        try JSONOutput.write(validation)
    }
}
