import Crypto
public import RelayCore

extension BillingID {
    /// Of a subscription of a store, for one publisher: the same for ever, on whatever copy and database it is asked for. It is written
    /// into rows and public ids: it can never change.
    public init(external name: SubscriptionName) {
        var hash = SHA256()
        for part in [
            "external subscription", name.publisher.text, name.platform.rawValue, name.environment.text,
            name.originalTransactionID.text,
        ] {
            hash.update(data: Array("\(part.utf8.count):".utf8))
            hash.update(data: Array(part.utf8))
        }
        self.init(digest: Array(hash.finalize()))
    }
}
