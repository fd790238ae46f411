import HTTPServer
import Hummingbird
import Relay
import RelayCore

/// Routes of orders and of their commit, which creates the contract.
struct OrderRoutes: Sendable {
    let billing: BillingContext

    var routes: [Route] {
        [
            .post("/api/v1/orders", create), .get("/api/v1/orders", list), .get("/api/v1/orders/:id", one),
            .post("/api/v1/orders/:id/commit", commit),
        ]
    }

    private static var conflict: Problem {
        Problem(
            .alreadyOrdered,
            "the subscription has a contract already: one subscription of a store has one contract, of the customer whose order was committed first"
        )
    }

    private func create(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        let loan = BodyLoan(billing.parts.budget)
        defer { loan.end() }
        let terms = try OrderRequest(try await billing.body(request, on: loan)).terms
        let order = NewOrder(
            publisher: publisher, externalSubscription: try await subject(of: terms, publisher),
            party: Self.party(of: terms))
        switch try await billing.store.orders.add(order) {
        case .created(let order): return BillingContext.one(order, status: .created, BillingJSON.order)
        case .unknownSubscription: throw BillingContext.unknown("ExternalSubscriptionId")
        case .unknownCustomer: throw BillingContext.unknown("CustomerId")
        case .unknownContract: throw BillingContext.unknown("ContractId")
        case .conflict: throw Self.conflict
        case .otherPlatform(let platform):
            throw Problem(
                .invalidFields,
                "ContractId: the contract holds \(platform.iapType) subscriptions; subscriptions of different stores are kept in separate contracts"
            )
        }
    }

    private func subject(
        of terms: OrderTerms<CustomerDetails, CheckRequest>, _ publisher: PublisherID
    ) async throws -> BillingID {
        switch terms.subject {
        case .checked(let id): return id
        case .cart(let cart):
            guard let one = try await billing.check(cart, publisher: publisher).first else {
                throw BillingContext.refused("ExternalCart: the store knows no such subscription")
            }
            return one.id
        }
    }

    private static func party(of terms: OrderTerms<CustomerDetails, CheckRequest>) -> NewOrder.Party {
        switch terms.party {
        case .customer(let id): .customer(id)
        case .newCustomer(let details): .newCustomer(details: details.json)
        case .contract(let id): .contract(id)
        }
    }

    /// Commits an order. Ignores the body: some clients send `{}`, others nothing.
    private func commit(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        _ = try await BodyReader(maximumBytes: BillingContext.smallBodyBytes).read(request, ofAnyType: true)
        let id = try billing.id(context, "order")
        switch try await billing.store.orders.commit(id, publisher: publisher) {
        case .contract(let contract): return BillingContext.one(contract, BillingJSON.contract)
        case .conflict: throw Self.conflict
        case .unknownOrder: throw BillingContext.unknown("order")
        }
    }

    private func one(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        guard let order = try await billing.store.orders.order(try billing.id(context, "order"), publisher: publisher)
        else {
            throw BillingContext.unknown("order")
        }
        return BillingContext.one(order, BillingJSON.order)
    }

    private func list(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        return BillingContext.list(
            try await billing.store.orders.list(of: publisher, try billing.page(request)), BillingJSON.order)
    }
}
