import ArgumentParser
import Foundation
import SimulatorKit

/// `store-simulator roku`
struct RokuCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roku", abstract: "Plays Roku Pay's transaction service.",
        subcommands: [RokuServe.self], defaultSubcommand: RokuServe.self)
}

/// `store-simulator roku [serve] --api-key KEY`
struct RokuServe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve", abstract: "Answers for transactions.")

    @Option(help: "The API key that it takes.")
    var apiKey: String

    @OptionGroup(title: "Push notifications") var push: RokuPushOptions

    @OptionGroup var options: ServeOptions

    func validate() throws {
        guard !apiKey.isEmpty else { throw ValidationError("--api-key is empty") }
    }

    func run() async throws {
        let push = SimulatedRokuPush(
            key: PushKey(), apiKey: apiKey, settings: try push.settings(), keepMessages: options.keepRequests)
        let signal = PushSignal()
        try await options.serve(
            SimulatedRoku(apiKey: apiKey, push: push), as: "store-simulator roku", afterCall: signal.send,
            background: { service in
                [PushService(store: service, publisher: \.push, signal: signal)]
            })
    }
}

/// Initial address for notifications; `PUT /control/push` changes it.
struct RokuPushOptions: ParsableArguments {
    @Option(help: "The address that notifications are pushed to, such as http://127.0.0.1:8080/roku/notifications.")
    var pushURL: String?

    @Option(help: "signed, as Roku does today; or unsigned, the older form; signed if it is left out.")
    var pushForm: String?

    func validate() throws { _ = try settings() }

    func settings() throws -> RokuPushSettings? {
        guard let pushURL else {
            guard pushForm == nil else { throw ValidationError("--push-form needs --push-url") }
            return nil
        }
        guard let form = RokuPushForm(rawValue: pushForm ?? "signed") else {
            throw ValidationError("--push-form is signed or unsigned")
        }
        do throws(ControlFault) {
            return try RokuPushSettings(url: pushURL, form: form)
        } catch {
            throw ValidationError(error.message)
        }
    }
}
