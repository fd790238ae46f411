import Foundation
import RelayCore

@testable import AppleStore

func date(_ text: String) -> AppleTimestamp? { AppleTimestamp(text: Array(text.utf8)[...]) }

/// The error of reading; nil if it succeeds.
func readError(_ body: () throws -> Void) -> ReceiptReadError? {
    do {
        try body()
        return nil
    } catch {
        return error as? ReceiptReadError
    }
}

func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

func base64URL(_ bytes: [UInt8]) -> String {
    base64(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

func jws(header: String = #"{"alg":"ES256","x5c":["MAA=","MAE=","MAI="]}"#, payload: String) -> String {
    [header, payload, "signature"].map { base64URL(Array($0.utf8)) }.joined(separator: ".")
}

enum PurchaseReader {
    static func read(_ text: String, transactionId: TransactionID) throws(ReceiptReadError) -> ReadPurchase {
        try read(ReceiptData(text), transactionId: transactionId)
    }

    static func read(_ data: ReceiptData, transactionId: TransactionID) throws(ReceiptReadError) -> ReadPurchase {
        try read(PurchaseDocument(data), transactionId: transactionId)
    }

    static func read(
        _ document: PurchaseDocument, transactionId: TransactionID
    ) throws(ReceiptReadError) -> ReadPurchase {
        try ReadPurchase(document, transactionId: transactionId)
    }
}

extension PurchaseDocument {
    var signedReceipt: SignedReceipt? {
        if case .appReceipt(let signed) = self { signed } else { nil }
    }

    var isTransactionReceipt: Bool { if case .transactionReceipt = self { true } else { false } }

    var signedTransaction: SignedTransaction? {
        if case .signedTransaction(let transaction) = self { transaction } else { nil }
    }
}
