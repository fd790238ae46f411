import Foundation
import RelayClient

extension Relay {
    /// A client as an app creates it.
    func client(
        key: String? = nil, customerToken: RelayClient.CustomerToken? = nil,
        transport: any RelayTransport = URLSessionTransport()
    ) throws -> RelayClient {
        guard let url = URL(string: url) else { throw HarnessError.failed("the relay's address", [url]) }
        return RelayClient(
            baseURL: url, key: key ?? keys.app, customerToken: customerToken, transport: transport)
    }
}

extension Purchase {
    init(_ email: String, original: String = TestPurchase.newTransactionID()) {
        self.init(TestPurchase(email: email, original: original))
    }

    init(_ purchase: TestPurchase) {
        self.init(
            email: purchase.email, offer: purchase.offer,
            proof: .signedTransaction(purchase.receipt, transactionID: purchase.transactionID), appType: .ios)
    }
}
