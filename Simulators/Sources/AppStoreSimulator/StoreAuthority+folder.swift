import AppStoreSimulation
import ArgumentParser
import Foundation

extension StoreAuthority {
    /// As `create-roots` has left it.
    ///
    /// - Throws: `ValidationError`, which says what to do.
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
