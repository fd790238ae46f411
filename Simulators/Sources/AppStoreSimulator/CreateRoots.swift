import AppStoreSimulation
import ArgumentParser
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
