import AppStoreSimulation
import ArgumentParser
import Foundation

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
