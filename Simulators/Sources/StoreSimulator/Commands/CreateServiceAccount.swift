import ArgumentParser
import CryptoExtras
import Foundation

/// `store-simulator google create-service-account --out FILE`
struct CreateServiceAccount: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create-service-account",
        abstract: "Makes the key file of a service account, as Google Cloud gives it out.")

    @Option(help: "Where it is written, such as service-account.json; a file that is there already stays.")
    var out: String

    @Option(help: "Where its tokens are had: the simulator's address and /token.")
    var tokenURI = "http://127.0.0.1:8092/token"

    func validate() throws {
        guard let url = URL(string: tokenURI), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false
        else { throw ValidationError("--token-uri is an http or https URL") }
    }

    func run() throws {
        // A key that is in use is not to be lost by a slip of the pen.
        guard !FileManager.default.fileExists(atPath: out) else { throw ValidationError("\(out) is there already") }
        let file = try ServiceAccountFile.made(tokenURI: tokenURI).json()
        guard FileManager.default.createFile(atPath: out, contents: file, attributes: [.posixPermissions: 0o600]) else {
            throw ValidationError("\(out) cannot be written")
        }
    }
}
