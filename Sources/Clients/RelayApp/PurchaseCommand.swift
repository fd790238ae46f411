import ArgumentParser
import Foundation
import RelayClient

/// Posts one purchase and waits for its outcome.
struct PurchaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purchase", abstract: "Posts a purchase and waits for its outcome.",
        discussion: """
            Exit status: 0 granted; 1 refused, by the billing system or as a purchase that cannot be one; 2 no grant in \
            the time allowed; 3 the relay could not be asked.
            """)

    @Option(help: "The relay's app front, such as http://127.0.0.1:8080.", transform: Self.url)
    var url: URL

    @Option(help: "A key of the role app. Without it, the environment's RELAY_APP_KEY.")
    var key: String?

    @Option(help: "The customer.")
    var email: String

    @Option(help: "The offer's id, such as S123456789_US.")
    var offer: String

    @Option(help: "The store's id of the transaction, in digits.")
    var transactionID: String

    @Option(help: "A file with an app receipt (StoreKit 1), binary or base64.")
    var receipt: String?

    @Option(help: "A file with a signed transaction (StoreKit 2).")
    var jws: String?

    @Option(help: "A coupon to send along.")
    var coupon: String?

    @Option(help: "A file that keeps the validation's id, as an app keeps it on the device.")
    var keep: String?

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text), url.scheme == "http" || url.scheme == "https", url.host() != nil else {
            throw ValidationError("it is not an address with http or https")
        }
        return url
    }

    func validate() throws {
        guard (receipt == nil) != (jws == nil) else { throw ValidationError("one of --receipt and --jws is needed") }
    }

    func run() async throws {
        guard let key = key ?? ProcessInfo.processInfo.environment["RELAY_APP_KEY"], !key.isEmpty else {
            throw ValidationError("--key is missing, and RELAY_APP_KEY is not set")
        }
        let purchase = Purchase(email: email, offer: offer, proof: try proof(), appType: .ios, coupon: coupon)
        do {
            let outcome = try await RelayClient(baseURL: url, key: key).redeem(purchase) { state in
                Report.show(state)
                keepID(of: state)
            }
            throw ExitCode(Report.exitStatus(outcome))
        } catch let error as RelayError {
            Report.show(error)
            throw ExitCode(Report.exitStatus(error))
        }
    }

    private func proof() throws -> Proof {
        do {
            if let jws { return .signedTransaction(try ProofFile.text(jws), transactionID: transactionID) }
            return .appReceipt(try ProofFile.receipt(receipt ?? ""), transactionID: transactionID)
        } catch {
            throw ValidationError("cannot read \(jws ?? receipt ?? ""): \(error.localizedDescription)")
        }
    }

    private func keepID(of validation: RelayClient.Validation) {
        guard let keep else { return }
        do {
            try Data("\(validation.id)\n".utf8).write(to: URL(fileURLWithPath: keep), options: .atomic)
        } catch {
            Report.complain("cannot write \(keep): \(error.localizedDescription)")
        }
    }
}

/// Reads a store's proof of purchase from a file.
enum ProofFile {
    /// The file's text, without the white space that editors and mail programs add.
    static func text(_ path: String) throws -> String {
        String(decoding: try read(path).filter { !$0.isSpace }, as: UTF8.self)
    }

    /// The file's bytes, decoded if they are base64.
    static func receipt(_ path: String) throws -> Data {
        let data = try read(path)
        return Data(base64Encoded: data.filter { !$0.isSpace }) ?? data
    }

    private static func read(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}

extension UInt8 {
    fileprivate var isSpace: Bool {
        self == UInt8(ascii: " ") || (UInt8(ascii: "\t")...UInt8(ascii: "\r")).contains(self)
    }
}
