import Foundation

// As much of StoreKit as the guide's code uses, with its names and isolation, so that the code is compiled here. What StoreKit
// does is not played.

enum VerificationResult<Value: Sendable>: Sendable {
    case verified(Value)
    case unverified(Value, any Error)

    var jwsRepresentation: String { "" }
}

struct Transaction: Sendable {
    var id: UInt64
    var productID: String
    var revocationDate: Date?

    static var updates: AsyncStream<VerificationResult<Transaction>> { AsyncStream { $0.finish() } }
    static var currentEntitlements: AsyncStream<VerificationResult<Transaction>> { AsyncStream { $0.finish() } }

    func finish() async {}
}

struct Product: Sendable {
    enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }

    func purchase() async throws -> PurchaseResult { .pending }
}

enum AppStore {
    static func sync() async throws {}
}

class SKPaymentTransaction: NSObject {
    enum State { case purchasing, purchased, failed, restored, deferred }

    var transactionState = State.purchasing
    var transactionIdentifier: String?
}

class SKPaymentQueue: NSObject {
    func finishTransaction(_ transaction: SKPaymentTransaction) {}
}

protocol SKPaymentTransactionObserver: NSObjectProtocol {
    func paymentQueue(_ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction])
}

extension Bundle {
    var appStoreReceiptURL: URL? { nil }
}
