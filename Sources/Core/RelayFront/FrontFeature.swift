package import ConsolePages
package import Hummingbird
package import RelayStore

/// What a feature adds to the fronts.
public struct FrontFeature: Sendable {
    /// What its routes may use.
    package struct Parts: Sendable {
        package let store: RelayStore
        package let keys: KeyRing
        package let authenticator: Authenticator
        package let acceptor: PurchaseAcceptor
        package let limits: RateLimits
        /// Budgets of bodies: of routes with a key, and of those without.
        package let budget, keylessBudget: BodyBudget
        package let maxBodyBytes: Int
        /// The stores other than Apple's, which can be asked.
        package let stores: StoreGate
        package let receipts: ReceiptPolicy
        /// Whether webhook endpoints must use https.
        package let requiresTLS: Bool
    }

    /// A page of the console that every page links to.
    package struct Page: Sendable {
        package let section: Section
        package let show: @Sendable (ConsoleVisit) async throws -> Response

        package init(section: Section, show: @escaping @Sendable (ConsoleVisit) async throws -> Response) {
            self.section = section
            self.show = show
        }
    }

    /// Routes on the apps' port.
    let routes: @Sendable (Parts) -> [Route]
    /// Forms of errors of its paths, on both ports.
    let dialects: [ErrorDialect]
    /// The first segments of its paths that match without regard to case, in lower case; on both ports.
    let foldedPaths: [StaticString]
    let pages: [Page]

    package init(
        routes: @escaping @Sendable (Parts) -> [Route] = { _ in [] }, dialects: [ErrorDialect] = [],
        foldedPaths: [StaticString] = [], pages: [Page] = []
    ) {
        self.routes = routes
        self.dialects = dialects
        self.foldedPaths = foldedPaths
        self.pages = pages
    }
}
