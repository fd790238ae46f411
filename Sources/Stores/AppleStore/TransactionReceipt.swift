import Formats
public import RelayCore

/// The receipt of one transaction as iOS 6 made it (`SKPaymentTransaction.transactionReceipt`, deprecated since iOS 7):
/// a NeXTSTEP property list around a second one in base64.
public struct TransactionReceipt: Sendable, Hashable {
    /// Taken from `environment`, or else from the `pod` that issued it: 100 is the sandbox (observed).
    public var environment: AppleEnvironment
    /// `bid`
    public var bundleId: BundleID?
    public var entry: PurchaseEntry
}

extension TransactionReceipt {
    /// - Throws: ``ReceiptReadError/malformedTransactionReceipt``, ``ReceiptReadError/tooLarge``.
    public init(propertyList bytes: [UInt8]) throws(ReceiptReadError) {
        guard bytes.count <= ReceiptLimits.transactionReceiptBytes else { throw .tooLarge }
        guard let outer = PropertyListDictionary(bytes[...]),
            let information = outer.values["purchase-info"].flatMap({ Base64.decode($0, .lenient) }),
            let inner = PropertyListDictionary(information[...])
        else { throw .malformedTransactionReceipt }

        environment = Self.environment(outer)
        bundleId = BundleID(inner.text("bid"))
        entry = PurchaseEntry(inner)
    }

    private static func environment(_ outer: PropertyListDictionary) -> AppleEnvironment {
        if let raw = outer.text("environment") { return AppleEnvironment(raw: raw) }
        guard let pod = outer.integer("pod") else { return .unnamed }
        return AppleEnvironment(kind: pod == 100 ? .sandbox : .production, raw: "")
    }
}

extension PropertyListDictionary {
    func isPresent(_ key: String) -> Bool { values[key]?.isEmpty == false }

    func text(_ key: String) -> String? { values[key].flatMap(StoreText.text) }

    func identifier(_ key: String) -> String? { values[key].flatMap(StoreText.identifier) }

    fileprivate func integer(_ key: String) -> Int64? { identifier(key).flatMap { Int64($0) } }

    func bool(_ key: String) -> Bool? {
        switch identifier(key) {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// Milliseconds under the first key, or a date text under either.
    func date(_ keys: String...) -> AppleTimestamp? {
        for key in keys {
            if let number = integer(key) { return AppleTimestamp(external: Double(number)) }
            if let date = values[key].flatMap(AppleTimestamp.init(text:)) { return date }
        }
        return nil
    }
}
