/// The stores whose purchases Cleeng takes, each at `/{store}/payment`.
enum PaymentGateway: String, Sendable, CaseIterable {
    case apple
    case android
    case amazon

    /// - Parameter appType: of an entitlement: `ios`, `tvos`, `android`, `amazon`.
    init(appType: String) { self = PaymentGateway(rawValue: appType) ?? .apple }
}
