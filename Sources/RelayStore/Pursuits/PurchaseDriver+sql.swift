import RelayCore

extension PurchaseDriver {
    /// The phase that the pursuit of a purchase begins in, as ``firstPhase`` says.
    static func firstPhaseSQL(_ column: String) -> String {
        "CASE \(column) WHEN \(storekit2.rawValue) THEN \(storekit2.firstPhase.rawValue) ELSE \(receipt.firstPhase.rawValue) END"
    }
}
