import NIOCore
import RelayCore

@testable import HTTPServer
@testable import Relay

enum Fixtures {
    static func validation(
        status: ValidationStatus = .pending, settledAt: Timestamp? = nil, expiresAt: Timestamp? = nil,
        reason: String? = nil,
        late: Bool = false
    ) -> Validation {
        let begin = Timestamp(seconds: 1_700_000_000)
        return Validation(
            id: ValidationID(bucket: Bucket(number: 7), day: 19_236, high: 1, low: 2), publisher: "main",
            app: "com.example",
            email: "Ana@example.test", customer: "ana@example.test", offerID: "S1_US", status: status, reason: reason,
            late: late, acceptedAt: begin, deadline: begin + .seconds(60), settledAt: settledAt, expiresAt: expiresAt)
    }

    /// The purchase request of this JSON with one of Apple's receipts.
    static func payment(_ json: String) throws -> PurchaseRequest {
        try PurchaseRequest(ByteBuffer(string: json), of: .apple, readsNumber: true)
    }

    /// The wrong fields, as `field code`, in order.
    static func wrong(_ json: String) -> [String]? {
        do {
            _ = try payment(json)
            return []
        } catch let problem as Problem where problem.code == .invalidFields {
            return problem.errors.map { "\($0.field) \($0.code.rawValue)" }
        } catch {
            return nil
        }
    }
}

extension PurchaseRequest {
    private var sent: PurchaseProof.Apple? { if case .apple(let sent) = proof { sent } else { nil } }
    var transactionID: TransactionID? { sent?.transactionID }
    var receiptData: String? { sent?.receiptData }
}

extension StoreReceipt {
    static func sample(_ platform: StorePlatform, _ texts: [String: String]) -> StoreReceipt {
        guard let receipt = StoreReceipt(platform, texts.mapValues { .text($0) }) else {
            preconditionFailure("a required field is missing")
        }
        return receipt
    }
}
