import AppStoreSimulation
import AppleStore
import Foundation

/// What libFuzzer calls with every input. Whatever it is, the readers return: a trap, a hang or an overflow of the stack is a
/// find. The first byte chooses the way in, so that one corpus serves all.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let choice = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    switch choice % 4 {
    case 0: read(.binary(bytes))
    case 1: (try? ReceiptData(String(decoding: bytes, as: UTF8.self))).map(read)
    case 2: verify(bytes)
    default:
        guard let notification = try? SignedNotification(String(decoding: bytes, as: UTF8.self)) else { return 0 }
        wait { try? await notification.verify(Seeds.trust, Seeds.scope) }
    }
    return 0
}

private func read(_ data: ReceiptData) {
    _ = try? PurchaseReader.read(data, transactionId: "1")
}

/// A payload that was signed goes further than one that was not: the signature is made for it.
private func verify(_ bytes: [UInt8]) {
    if let receipt = try? SignedReceipt(berEncoded: bytes) {
        wait { _ = try? await receipt.verify(Seeds.trust) }
    } else if let jws = try? CompactJWS(bytes), let transaction = try? SignedTransaction(jws) {
        wait { _ = try? await transaction.jws.verify(Seeds.trust, signedDate: transaction.payload.signedDate) }
    }
}

private func wait(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        await body()
        done.signal()
    }
    done.wait()
}
