import Hummingbird
import RelayCore
import RelayStore

/// Contracts and customers, as billing reads them.
struct ContractRoutes: Sendable {
    let desk: BillingDesk

    var routes: [Route] {
        [
            .get("/api/v1/contracts", contracts), .get("/api/v1/contracts/:id", contract),
            .get("/api/v1/customers", customers), .post("/api/v1/customers", addCustomer),
            .get("/api/v1/customers/:id", customer), .get("/api/v1/customers/:id/contracts", contractsOfCustomer),
        ]
    }

    private func contracts(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await desk.publisher(request, context)
        return BillingDesk.list(
            try await desk.store.orders.contracts(of: publisher, try desk.page(request), leeway: desk.leeway),
            BillingJSON.contract)
    }

    private func contract(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await desk.publisher(request, context)
        let id = try desk.id(context, "contract")
        guard let contract = try await desk.store.orders.contract(id, publisher: publisher, leeway: desk.leeway) else {
            throw BillingDesk.unknown("contract")
        }
        return BillingDesk.one(contract, BillingJSON.contract)
    }

    private func customers(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await desk.publisher(request, context)
        return BillingDesk.list(
            try await desk.store.orders.billingCustomers(of: publisher, try desk.page(request)), BillingJSON.customer)
    }

    private func addCustomer(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await desk.publisher(request, context)
        let loan = BodyLoan(desk.budget)
        defer { loan.end() }
        let body = try JSONFields(try await desk.body(request, on: loan), inAnyCase: CustomerDetails.names)
        let customer = try await desk.store.orders.addBillingCustomer(
            details: try CustomerDetails(body, path: "").json, publisher: publisher)
        return BillingDesk.one(customer, status: .created, BillingJSON.customer)
    }

    private func customer(_ request: Request, _ context: FrontContext) async throws -> Response {
        BillingDesk.one(try await known(request, context).customer, BillingJSON.customer)
    }

    private func contractsOfCustomer(_ request: Request, _ context: FrontContext) async throws -> Response {
        let (customer, publisher) = try await known(request, context)
        let contracts = try await desk.store.orders.contracts(
            of: publisher, customer: customer.id, try desk.page(request), leeway: desk.leeway)
        return BillingDesk.list(contracts, BillingJSON.contract)
    }

    private func known(
        _ request: Request, _ context: FrontContext
    ) async throws -> (customer: BillingCustomer, publisher: PublisherID) {
        let publisher = try await desk.publisher(request, context)
        let id = try desk.id(context, "customer")
        guard let customer = try await desk.store.orders.billingCustomer(id, publisher: publisher) else {
            throw BillingDesk.unknown("customer")
        }
        return (customer, publisher)
    }
}
