import AppStoreSimulation
import ArgumentParser
import Crypto
import Foundation

/// `app-store-simulator create-roots FOLDER`
struct CreateRoots: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create-roots", abstract: "Makes authorities that sign for a year, and roots.pem for the relay.")

    @Argument(help: "Where they are kept; made where it is not there.")
    var folder: String

    func run() throws {
        let folder = URL(fileURLWithPath: folder, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let now = Date()
        let form = StoreAuthority.Form(validity: now.addingTimeInterval(-86_400)...now.addingTimeInterval(31_557_600))
        var roots = ""
        for (purpose, name) in [(StoreAuthority.Purpose.transactions, "transactions"), (.receipts, "receipts")] {
            let authority = try StoreAuthority(purpose, name: "App Store Simulator", form: form)
            try authority.write(to: folder, name: name)
            roots += authority.rootPEM + "\n"
        }
        try Data(roots.utf8).write(to: folder.appendingPathComponent("roots.pem"))
    }
}

/// `app-store-simulator create-api-key --output FILE`
struct CreateAPIKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create-api-key",
        abstract: "Makes a key for the App Store Server API, as App Store Connect gives it out.")

    @Option(help: "Where it is written, such as AuthKey_SIMULATED1.p8; a file that is there already stays.")
    var output: String

    func run() throws {
        // A key in use must not be overwritten by mistake.
        guard !FileManager.default.fileExists(atPath: output) else {
            throw ValidationError("\(output) is there already")
        }
        let key = Data((P256.Signing.PrivateKey().pemRepresentation + "\n").utf8)
        guard
            FileManager.default.createFile(atPath: output, contents: key, attributes: [.posixPermissions: 0o600])
        else { throw ValidationError("\(output) cannot be written") }
    }
}

/// Content of a purchase, and the authority that signs it.
struct PurchaseOptions: ParsableArguments {
    @Argument(help: "What create-roots has made.")
    var folder: String

    @Option(help: "The transaction's number.")
    var transactionID: String

    @Option(help: "Of the subscription's first transaction; without it, the transaction's own.")
    var originalTransactionID: String?

    @Option(help: "Production or Sandbox.")
    var environment = "Sandbox"

    @Option(help: "The app.")
    var bundleID = "com.example.app"

    @Option(help: "What was bought.")
    var productID = "com.example.app.monthly"

    @Option(help: "For how many days.")
    var days = 30.0

    @Flag(help: "A pass: it does not renew, and its end is not the store's to say.")
    var pass = false

    func validate() throws {
        try OptionChecks.environment(environment)
        try OptionChecks.transactionNumber(transactionID)
        try OptionChecks.transactionNumber(originalTransactionID)
        guard days.isFinite, days > 0, days < 36_500 else { throw ValidationError("--days is more than 0") }
    }

    /// In JSON.
    func transaction() throws -> Data {
        // Whole seconds, like the App Store's purchases.
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        var transaction = SimulatedTransaction(
            bundleId: bundleID, environment: environment, productId: productID, transactionId: transactionID,
            originalTransactionId: originalTransactionID, purchaseDate: now, expiresDate: end(of: now))
        if pass { transaction.type = "Non-Renewing Subscription" }
        return try transaction.json(signedDate: now)
    }

    private func end(of purchase: Date) -> Date? { pass ? nil : purchase.addingTimeInterval(days * 86_400) }

    func receipt() -> SimulatedReceipt {
        let now = Date()
        return SimulatedReceipt(
            environment: environment == "Production" ? "Production" : "ProductionSandbox", bundleId: bundleID,
            creationDate: now,
            purchases: [
                SimulatedReceipt.Purchase(
                    productId: productID, transactionId: transactionID,
                    originalTransactionId: originalTransactionID ?? transactionID, purchaseDate: now,
                    originalPurchaseDate: now, expiresDate: end(of: now))
            ])
    }
}

/// `app-store-simulator sign-transaction FOLDER --transaction-id ID`
struct SignTransaction: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-transaction", abstract: "Writes a StoreKit 2 transaction as a compact JWS.")

    @OptionGroup var purchase: PurchaseOptions

    func run() throws {
        let authority = try StoreAuthority.kept(in: purchase.folder, for: .transactions)
        print(try authority.sign(json: purchase.transaction()), terminator: "")
    }
}

/// `app-store-simulator sign-receipt FOLDER --transaction-id ID`
struct SignReceipt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-receipt", abstract: "Writes an app receipt in base64.")

    @OptionGroup var purchase: PurchaseOptions

    func run() throws {
        let authority = try StoreAuthority.kept(in: purchase.folder, for: .receipts)
        print(Data(try authority.sign(purchase.receipt())).base64EncodedString(), terminator: "")
    }
}

extension StoreAuthority {
    /// Reads an authority that `create-roots` has stored.
    ///
    /// - Throws: `ValidationError` with advice.
    static func kept(in folder: String, for purpose: Purpose) throws -> StoreAuthority {
        let name =
            switch purpose {
            case .transactions: "transactions"
            case .receipts: "receipts"
            }
        do {
            return try StoreAuthority(purpose, in: URL(fileURLWithPath: folder, isDirectory: true), name: name)
        } catch {
            throw ValidationError(
                "\(folder) does not hold \(name)-chain.pem and \(name)-key.pem that belong together: make them with create-roots"
            )
        }
    }
}

/// Checks of options that several commands share.
enum OptionChecks {
    static func environment(_ name: String) throws {
        guard ["Production", "Sandbox"].contains(name) else {
            throw ValidationError("--environment is Production or Sandbox")
        }
    }

    static func transactionNumber(_ number: String?) throws {
        guard let number else { return }
        guard (1...32).contains(number.utf8.count), number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw ValidationError("a transaction's number has 1 to 32 digits")
        }
    }

    static func url(_ text: String, of option: String = "--to") throws {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false
        else { throw ValidationError("\(option) is an http or https URL") }
    }
}
