import Foundation
import Testing

@testable import AppleStore

/// Contents of a receipt as another decoder reads them.
struct ExpectedReceipt: Decodable {
    let receipt: Summary
    let inApp: [Purchase]

    struct Summary: Decodable {
        let environment: String
        let bundleId: String?
        let appVersion: String?
        let originalAppVersion: String?
        let creationDate: String?
        let expirationDate: String?
        let inAppCount: Int
        let derBytes: Int
        let originalTransactionIds: [String]
        let latestExpiringSubscription: Purchase?
    }

    struct Purchase: Decodable {
        let productId: String?
        let transactionId: String?
        let originalTransactionId: String?
        let purchaseDate: String?
        let originalPurchaseDate: String?
        let expiresDate: String?
        let cancellationDate: String?
        let webOrderLineItemId: Int64?
        let productTypeUndocumented: Int64?
        let quantity: Int64?
        let isTrial: Int64?
        let isIntro: Int64?
        let promoOfferId: String?
    }
}

/// Compares without ever printing a value.
struct Comparison {
    let file: String

    func same<T: Equatable>(
        _ field: String, _ actual: T?, _ expected: T?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isSame = actual == expected
        #expect(isSame, "\(file): \(field) is another than expected", sourceLocation: sourceLocation)
    }

    /// The expected date is read by Foundation, not by the code under test.
    func same(
        _ field: String, _ actual: AppleTimestamp?, written: String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let expected = try written.map { text in
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ssZ"
            let date = try #require(formatter.date(from: text.replacing("Z", with: "+0000")))
            return Int64((date.timeIntervalSince1970 * 1000).rounded())
        }
        same(field, actual?.millisecondsSince1970, expected, sourceLocation: sourceLocation)
    }
}
