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

    /// What the App Store delivers in a test.
    @TaskLocal static var delivered: [VerificationResult<Transaction>] = []

    static var updates: AsyncStream<VerificationResult<Transaction>> { all }
    static var unfinished: AsyncStream<VerificationResult<Transaction>> { all }
    static var currentEntitlements: AsyncStream<VerificationResult<Transaction>> { all }

    private static var all: AsyncStream<VerificationResult<Transaction>> {
        AsyncStream { stream in
            for one in delivered { stream.yield(one) }
            stream.finish()
        }
    }

    func finish() async {}
}

struct Product: Sendable {
    enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }

    var id = "gold"
    var result = PurchaseResult.pending

    func purchase() async throws -> PurchaseResult { result }
}

enum AppStore {
    static func sync() async throws {}
}

class SKPaymentTransaction: NSObject {
    enum State { case purchasing, purchased, failed, restored, deferred }

    var transactionState = State.purchasing
    var transactionIdentifier: String?
    var payment = SKPayment()
}

struct SKPayment {
    var productIdentifier = ""
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
