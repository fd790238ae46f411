import ArgumentParser
import Foundation

/// Where the simulator's own events go from the start.
struct WebhookOptions: ParsableArguments {
    static let secretVariable = "CLEENG_SIMULATOR_WEBHOOK_SECRET"

    @Option(
        name: .customLong("webhook-url"),
        help: "Where events such as subscriptionCreated are posted. None are sent without it.")
    var url: String?

    @Option(
        name: .customLong("webhook-secret"),
        help: ArgumentHelp(
            "What events are signed with (HMAC-SHA256); 16 bytes at least.",
            discussion: "Default: $\(secretVariable)."))
    var secret: String?

    @Option(name: .customLong("webhook-signature-header"), help: "The header that carries the signature.")
    var signatureHeader = WebhookTarget.standardHeader

    @Option(name: .customLong("webhook-signature-encoding"), help: "How the signature is written: hex or base64.")
    var signatureEncoding = WebhookTarget.Encoding.hex

    @Flag(
        name: .customLong("webhook-with-email"),
        help: "subscriptionCreated and subscriptionTerminated name the customer's email too.")
    var withEmail = false

    /// nil where none are to be sent. An empty variable counts as unset.
    func target() throws -> WebhookTarget? {
        guard let url else { return nil }
        let variable = ProcessInfo.processInfo.environment[Self.secretVariable] ?? ""
        guard let secret = secret ?? (variable.isEmpty ? nil : variable) else {
            throw ValidationError("--webhook-url needs --webhook-secret, or $\(Self.secretVariable)")
        }
        do {
            return try WebhookTarget(
                url: url, secret: secret, signatureHeader: signatureHeader, signatureEncoding: signatureEncoding,
                withEmail: withEmail)
        } catch {
            throw ValidationError(error.detail)
        }
    }
}

extension WebhookTarget.Encoding: ExpressibleByArgument {}
