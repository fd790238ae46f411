import AppStoreSimulation
import Foundation
import Testing

@testable import AppleStore

/// Authorities that are made for this run, valid and invalid, and objects that they sign.
enum TrustFixture {
    /// Time of all signatures.
    static let moment = Date(timeIntervalSince1970: 1_790_000_000)
    static let validity = moment.addingTimeInterval(-86_400)...moment.addingTimeInterval(86_400)

    static let receipts = make(.receipts)
    static let transactions = make(.transactions)

    static func make(
        _ purpose: StoreAuthority.Purpose, _ change: (inout StoreAuthority.Form) -> Void = { _ in }
    ) -> Result<StoreAuthority, any Error> {
        var form = StoreAuthority.Form(validity: validity)
        change(&form)
        return Result { try StoreAuthority(purpose, name: "Test", form: form) }
    }

    static func trust(_ authorities: StoreAuthority...) throws -> ChainOfTrust {
        ChainOfTrust(try TrustedRoots(adding: authorities.map(\.root)))
    }

    static func receipt(
        _ environment: String = "Production", bundleId: String = "com.example.app", creationDate: Date? = moment
    ) -> SimulatedReceipt {
        SimulatedReceipt(
            environment: environment, bundleId: bundleId, creationDate: creationDate,
            purchases: [
                SimulatedReceipt.Purchase(
                    productId: "com.example.month", transactionId: "2", originalTransactionId: "1",
                    purchaseDate: moment, originalPurchaseDate: moment,
                    expiresDate: moment.addingTimeInterval(2_592_000))
            ])
    }

    static func transaction(_ fields: String = "") -> Data {
        let milliseconds = Int(moment.timeIntervalSince1970 * 1_000)
        return Data(
            #"{"transactionId":"2","originalTransactionId":"1","bundleId":"com.example.app","environment":"Production","signedDate":\#(milliseconds)\#(fields)}"#
                .utf8)
    }
}

/// Why verification failed; nil if the object is genuine.
func flaw(_ body: () async throws -> Genuine) async -> NotGenuine.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? NotGenuine)?.code ?? .unreadable
    }
}
