import ConsolePages
import Hummingbird
import RelayStore

/// What a feature adds to the fronts.
public struct FrontFeature: Sendable {
    /// What its routes may use.
    struct Parts: Sendable {
        let store: RelayStore
        let keys: KeyRing
        let limits: RateLimits
        /// Budgets of bodies: of routes with a key, and of those without.
        let budget, keylessBudget: BodyBudget
        let maxBodyBytes: Int
        /// The stores other than Apple's, which can be asked.
        let stores: StoreGate
        let receipts: ReceiptPolicy
        /// Whether webhook endpoints must use https.
        let requiresTLS: Bool
    }

    /// A page of the console that every page links to.
    struct Page: Sendable {
        let section: Section
        let show: @Sendable (ConsoleVisit) async throws -> Response
    }

    /// Routes on the apps' port.
    var routes: @Sendable (Parts) -> [Route] = { _ in [] }
    var pages: [Page] = []
}
