import ArgumentParser
import Foundation
import SimulatorKit

/// `store-simulator amazon`
struct AmazonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "amazon", abstract: "Plays Amazon's Receipt Verification Service.",
        subcommands: [AmazonServe.self], defaultSubcommand: AmazonServe.self)
}

/// `store-simulator amazon [serve] --shared-secret SECRET`
struct AmazonServe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve", abstract: "Answers for receipts.")

    @Option(help: "The shared secret that it takes; under /sandbox it takes any.")
    var sharedSecret: String

    @OptionGroup(title: "Real-time notifications") var push: AmazonPushOptions

    @OptionGroup var options: ServeOptions

    func validate() throws {
        guard !sharedSecret.isEmpty else { throw ValidationError("--shared-secret is empty") }
    }

    func run() async throws {
        let sns = SimulatedSNS(
            key: SNSKey(at: Date()), settings: try push.settings(), keepMessages: options.keepRequests)
        try push.write(sns.key)
        let signal = PushSignal()
        try await options.serve(
            SimulatedAmazon(secret: sharedSecret, sns: sns), as: "store-simulator amazon", afterCall: signal.send
        ) { service, address in
            service.update { $0.store.sns.requestConfirmation(from: address, at: service.now()) }
            signal.send()
        } background: { service in
            [PushService(store: service, publisher: \.sns, signal: signal)]
        }
    }
}

/// Initial address for notifications; `PUT /control/push` changes it.
struct AmazonPushOptions: ParsableArguments {
    @Option(help: "The address that notifications are pushed to, such as http://127.0.0.1:8080/amazon/notifications.")
    var pushURL: String?

    @Option(help: "The topic of notifications; \(SNSSettings.exampleTopic) if it is left out.")
    var pushTopic: String?

    @Flag(help: "Pushes without a confirmation of the subscription.")
    var pushConfirmed = false

    @Option(help: "Where the certificate of the messages is written at the start, such as sns.pem.")
    var certificateOut: String?

    func validate() throws { _ = try settings() }

    func settings() throws -> SNSSettings? {
        guard let pushURL else {
            guard pushTopic == nil, !pushConfirmed else {
                throw ValidationError("--push-topic and --push-confirmed need --push-url")
            }
            return nil
        }
        do throws(ControlFault) {
            var settings = try SNSSettings(url: pushURL, topic: pushTopic ?? SNSSettings.exampleTopic)
            settings.confirmed = pushConfirmed
            return settings
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// Writes the certificate, overwriting that of an earlier start.
    func write(_ key: SNSKey) throws {
        guard let certificateOut else { return }
        do {
            try Data(key.certificate.utf8).write(to: URL(fileURLWithPath: certificateOut), options: .atomic)
        } catch {
            throw ValidationError("\(certificateOut) cannot be written")
        }
    }
}
