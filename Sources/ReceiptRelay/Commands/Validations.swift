import ArgumentParser
import Foundation
import RelayCore
import RelayStore

struct Validations: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What ops sees of validations, and does with them, from a terminal.",
        subcommands: [List.self, Show.self, Retry.self, Replay.self, Abandon.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
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

        @Option(help: "How many, 1 to 1000.")
        var limit = 50

        @Option(help: "Goes on where another page ended.")
        var cursor: String?

        @Flag(help: "As JSON.")
        var json = false

        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            if let status, ValidationStatus(name: status) == nil {
                throw ValidationError(
                    "--status is one of \(ValidationStatus.allCases.map(\.name).joined(separator: ", "))")
            }
            guard (1...1_000).contains(limit) else { throw ValidationError("--limit is 1 to 1000") }
            guard !(parked && waiting) else { throw ValidationError("--parked and --waiting are two lists") }
            guard (olderThanSeconds ?? 0) >= 0 else { throw ValidationError("--older-than-seconds is not negative") }
            if let cursor, ValidationCursor(cursor) == nil {
                throw ValidationError("--cursor is of another page's end")
            }
        }

        func run() async throws {
            let filter = ValidationFilter(
                status: status.flatMap(ValidationStatus.init(name:)),
                olderThan: olderThanSeconds.map { .seconds($0) },
                customer: customerEmail.map { CustomerID($0.trimmingSpace().asciiLowercased()) }, offerID: offerId,
                selection: parked ? .parked : waiting ? .waiting : .all,
                originalTransactionID: originalTransactionId, limit: limit,
                cursor: cursor.flatMap(ValidationCursor.init))
            let page = try await DatabaseSession.run(option) { try await $0.validations(matching: filter, in: .all) }
            guard !json else {
                return try JSONOutput.write(
                    ValidationPageOutput(
                        items: page.items.map(ListedValidationOutput.init), nextCursor: page.next?.description))
            }
            Table(columns: ["VALIDATION", "STATUS", "ACCEPTED", "OFFER", "CUSTOMER", "REASON"]).write(
                page.items.map { line in
                    let item = line.validation
                    let parked = line.parking.map { "parked since \($0.since.rfc3339): \($0.reason)" }
                    return [
                        item.id.description, item.status.name + (item.late ? " (late)" : ""), item.acceptedAt.rfc3339,
                        item.offerID.text, item.email.text, parked ?? item.reason ?? "-",
                    ]
                })
            if let next = page.next { print("more: --cursor \(next)") }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows one validation with its timeline.")

        @Argument var validationId: String
        @Flag(help: "As JSON.") var json = false
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let id = try Validations.parse(validationId)
            guard let detail = try await DatabaseSession.run(option, { try await $0.detail(id, in: .all) }) else {
                throw Validations.Refused.unknown
            }
            guard !json else { return try JSONOutput.write(ValidationDetailOutput(detail)) }
            ValidationDetailOutput(detail).printForPeople()
        }
    }

    /// What both actions take.
    struct Action: ParsableArguments {
        @Argument var validationId: String
        @Option(help: "Why; it is recorded.") var reason: String
        @Flag(help: "Shows the validation as JSON.") var json = false

        func validate() throws {
            try Validations.check(reason: reason)
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Sends a purchase to Cleeng once more.")

        @OptionGroup var action: Action
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            try await Validations.act(action, option) { store, id, reason in
                try await store.retry(id, in: .all, by: ShellUser.name, reason: reason)
            } told: {
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
            try await Validations.act(action, option) { store, id, reason in
                try await store.abandon(id, in: .all, by: ShellUser.name, reason: reason)
            } told: {
                "abandoned \($0)"
            }
        }
    }

    fileprivate enum Refused {
        static var unknown: ExitCode {
            ConfigurationOption.complain("there is no validation with that id")
            return ExitCode(1)
        }
    }

    fileprivate static func parse(_ text: String) throws -> ValidationID {
        guard let id = ValidationID(text) else { throw ValidationError("a validation id is 38 hexadecimal digits") }
        return id
    }

    /// As bounded as the ops API has it.
    static func check(reason: String) throws {
        let reason = reason.trimmingSpace()
        guard !reason.isEmpty else { throw ValidationError("--reason must not be empty") }
        guard reason.unicodeScalars.count <= 400 else { throw ValidationError("--reason has at most 400 characters") }
    }

    /// Who acts: the account that runs the command.
    fileprivate static func act(
        _ action: Action, _ option: ConfigurationOption,
        _ body: @escaping @Sendable (RelayStore, ValidationID, _ reason: String) async throws -> Void,
        told: (ValidationID) -> String
    ) async throws {
        let id = try parse(action.validationId)
        let reason = action.reason.trimmingSpace()
        do {
            let validation = try await DatabaseSession.run(option) { store in
                try await body(store, id, reason)
                return try await store.validation(id)
            }
            guard action.json, let validation else { return print(told(id)) }
            try JSONOutput.write(ValidationOutput(validation))
        } catch let refusal as OpsRefusal {
            ConfigurationOption.complain(refusal.advice)
            throw ExitCode(1)
        }
    }
}

extension OpsRefusal {
    var advice: String {
        switch self {
        case .unknown: "there is no validation with that id"
        case .status(let status): "it is \(status.name), and that does not allow it"
        case .superseded:
            "a newer request for the same subscription has been sent: sending this one would move the subscription back"
        case .busy: "a worker is sending it at this moment; try again in a few seconds"
        case .receiptGone: "its receipt is no longer kept"
        }
    }
}
