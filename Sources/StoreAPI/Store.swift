/// A store that is asked about a purchase by its name alone: nothing that it gives an app is signed.
public enum Store: String, Sendable, Hashable, CaseIterable {
    case google
    case amazon

    /// What a purchase of this store is called in the ledger: `google:…`, `amazon:…`. Apple's have no prefix.
    public func ledgerKey(_ key: String) -> String { "\(rawValue):\(key)" }
}
