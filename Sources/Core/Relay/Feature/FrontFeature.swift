package import HTTPServer

/// What a feature adds to the fronts.
public struct FrontFeature: Sendable {
    /// What its routes may use.
    package struct Parts: Sendable {
        package let authenticator: Authenticator
        package let acceptor: PurchaseAcceptor
        package let limits: RateLimits
        /// Budgets of bodies: of routes with a key, and of those without.
        package let budget, keylessBudget: BodyBudget
        package let maxBodyBytes: Int
        /// Whether webhook endpoints must use https.
        package let requiresTLS: Bool
    }

    /// What its routes on the operators' port may use.
    package struct OpsParts: Sendable {
        package let store: RelayStore
        package let authenticator: Authenticator
        package let tools: OpsTools
        /// The lists of all features.
        package let pages: [OpsPage]
    }

    /// What it adds to the operators' port.
    package struct Ops: Sendable {
        let routes: [Route]
        let dialects: [ErrorDialect]

        package init(routes: [Route], dialects: [ErrorDialect] = []) {
            self.routes = routes
            self.dialects = dialects
        }
    }

    /// Routes on the apps' port.
    let routes: @Sendable (Parts) -> [Route]
    /// Forms of errors of its paths, on both ports.
    let dialects: [ErrorDialect]
    /// The first segments of its paths that match without regard to case, in lower case; on both ports.
    let foldedPaths: [StaticString]
    let ops: @Sendable (OpsParts) throws -> Ops
    /// Lists that operators see in the console.
    let pages: [OpsPage]

    package init(
        routes: @escaping @Sendable (Parts) -> [Route] = { _ in [] }, dialects: [ErrorDialect] = [],
        foldedPaths: [StaticString] = [], ops: @escaping @Sendable (OpsParts) throws -> Ops = { _ in Ops(routes: []) },
        pages: [OpsPage] = []
    ) {
        self.routes = routes
        self.dialects = dialects
        self.foldedPaths = foldedPaths
        self.ops = ops
        self.pages = pages
    }
}
