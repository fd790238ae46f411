import ArgumentParser
import Crypto
import Foundation

/// `app-store-simulator create-api-key --output FILE`
struct CreateAPIKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create-api-key",
        abstract: "Makes a key for the App Store Server API, as App Store Connect gives it out.")

    @Option(help: "Where it is written, such as AuthKey_SIMULATED1.p8; a file that is there already stays.")
    var output: String

    func run() throws {
        // A key that is in use is not to be lost by a slip of the pen.
        guard !FileManager.default.fileExists(atPath: output) else {
            throw ValidationError("\(output) is there already")
        }
        let key = Data((P256.Signing.PrivateKey().pemRepresentation + "\n").utf8)
        guard
            FileManager.default.createFile(atPath: output, contents: key, attributes: [.posixPermissions: 0o600])
        else { throw ValidationError("\(output) cannot be written") }
    }
}
