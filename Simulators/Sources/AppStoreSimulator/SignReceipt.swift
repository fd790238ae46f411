import AppStoreSimulation
import ArgumentParser
import Foundation

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
