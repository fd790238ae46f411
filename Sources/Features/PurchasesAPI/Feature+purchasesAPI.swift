package import Relay

extension Feature {
    /// Purchases of customers for publishers, and the validator for apps' plugins, as Fovea has them.
    package static let purchasesAPI = Feature(
        stored: StoredFeature(),
        front: FrontFeature(
            routes: { parts in PurchaseRoutes(parts).routes + ValidateRoutes(parts).routes },
            dialects: [.fovea, .validator]))
}
