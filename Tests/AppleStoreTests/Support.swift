import Foundation

@testable import AppleStore

func date(_ text: String) -> AppleTimestamp? { AppleTimestamp(text: Array(text.utf8)[...]) }

/// The error that reading ends with, or nil where it succeeds.
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

extension PurchaseDocument {
    var signedReceipt: SignedReceipt? {
        if case .appReceipt(let signed) = self { signed } else { nil }
    }

    var transactionReceipt: TransactionReceipt? {
        if case .transactionReceipt(let receipt) = self { receipt } else { nil }
    }

    var signedTransaction: SignedTransaction? {
        if case .signedTransaction(let transaction) = self { transaction } else { nil }
    }
}
