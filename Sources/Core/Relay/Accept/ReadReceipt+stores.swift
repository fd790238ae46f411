import AppleStore
package import RelayCore

extension ReadReceipt {
    /// - Parameter answer: the store's answer; nil if it was not asked. The store signs nothing, so its answer is the
    ///   only proof.
    package init(_ sent: StoreReceipt, _ answer: ExternalStoreAnswer?, of key: APIKey) {
        func no(_ detail: String) -> Verification { .notGenuine(code: Verification.notAPurchase, detail: detail) }
        var found: ExternalSubscription?
        switch answer {
        case .found(let all):
            found = all.purchase(sent.subscriptionKey)
            if found == nil {
                verification = no("the store knows it by another name")
            } else if let detail = sent.troubleWithApp(of: key) {
                verification = .notGenuine(code: Verification.bundle, detail: detail)
            } else {
                verification = .genuine
            }
        case .no(let why), .ended(let why): verification = no(why)
        case .unknown: verification = no("the store does not know it")
        case .notConfigured, .misconfigured, .tryAgain, nil: verification = .notChecked
        }
        platform = sent.platform
        isReadable = true
        self.found = found
        subscriptionKey = found?.key ?? sent.subscriptionKey
        environment = found?.environment ?? .production
        productID = found?.productID ?? sent.productID
        bundleID = sent.query.detail
        periods = found?.statement.periods ?? []
        sentTransactionID = sent.transactionID
        stored = .init(isText: true, bytes: Private(sent.json))
        identity = Array(subscriptionKey.text.utf8)
    }
}

extension Verification {
    /// Code of a purchase that a store other than Apple's denies.
    package static let notAPurchase = "not_a_purchase"
    /// Code of a purchase in another app than the key's.
    fileprivate static let bundle = NotGenuine.Code.bundle.rawValue
}

extension StoreReceipt {
    /// The app that the purchase names; nil if it names none.
    package var app: BundleID? { platform.namesApp ? query.detail : nil }

    /// Error if the key names another app than the purchase.
    func troubleWithApp(of key: APIKey) -> String? {
        guard let app, !key.app.isEmpty, app != key.app else { return nil }
        return "it was bought in another app than the key's"
    }
}
