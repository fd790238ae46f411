import Hummingbird
import RelayCore
import RelayStore

/// Orders, and their commit, which makes the contract.
struct OrderRoutes: Sendable {
    let desk: BillingDesk

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
        let publisher = try await desk.publisher(request, context)
        let loan = BodyLoan(desk.budget)
        defer { loan.end() }
        let terms = try OrderRequest(try await desk.body(request, on: loan)).terms
        let order = NewOrder(
            publisher: publisher, externalSubscription: try await subject(of: terms, publisher),
            party: Self.party(of: terms))
        switch try await desk.store.orders.add(order) {
        case .created(let order): return BillingDesk.one(order, status: .created, BillingJSON.order)
        case .unknownSubscription: throw BillingDesk.unknown("ExternalSubscriptionId")
        case .unknownCustomer: throw BillingDesk.unknown("CustomerId")
        case .unknownContract: throw BillingDesk.unknown("ContractId")
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
            guard let one = try await desk.check(cart, publisher: publisher).first else {
                throw BillingDesk.refused("ExternalCart: the store knows no such subscription")
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

    /// Whatever the body says: some clients send `{}`, others nothing.
    private func commit(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await desk.publisher(request, context)
        _ = try await BodyReader(maximumBytes: BillingDesk.smallBodyBytes).read(request, ofAnyType: true)
        let id = try desk.id(context, "order")
        switch try await desk.store.orders.commit(id, publisher: publisher, leeway: desk.leeway) {
        case .contract(let contract): return BillingDesk.one(contract, BillingJSON.contract)
        case .conflict: throw Self.conflict
        case .unknownOrder: throw BillingDesk.unknown("order")
        }
    }

    private func one(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await desk.publisher(request, context)
        guard let order = try await desk.store.orders.order(try desk.id(context, "order"), publisher: publisher) else {
            throw BillingDesk.unknown("order")
        }
        return BillingDesk.one(order, BillingJSON.order)
    }

    private func list(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await desk.publisher(request, context)
        return BillingDesk.list(
            try await desk.store.orders.list(of: publisher, try desk.page(request)), BillingJSON.order)
    }
}
