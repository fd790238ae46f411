import HTTPServer
import Hummingbird
import Relay
import RelayCore

/// Routes by which billing systems read contracts and customers.
struct ContractRoutes: Sendable {
    let billing: BillingContext

    var routes: [Route] {
        [
            .get("/api/v1/contracts", contracts), .get("/api/v1/contracts/:id", contract),
            .get("/api/v1/customers", customers), .post("/api/v1/customers", addCustomer),
            .get("/api/v1/customers/:id", customer), .get("/api/v1/customers/:id/contracts", contractsOfCustomer),
        ]
    }

    private func contracts(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        return BillingContext.list(
            try await billing.store.orders.contracts(of: publisher, try billing.page(request)),
            BillingJSON.contract)
    }

    private func contract(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        let id = try billing.id(context, "contract")
        guard let contract = try await billing.store.orders.contract(id, publisher: publisher)
        else {
            throw BillingContext.unknown("contract")
        }
        return BillingContext.one(contract, BillingJSON.contract)
    }

    private func customers(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        return BillingContext.list(
            try await billing.store.orders.billingCustomers(of: publisher, try billing.page(request)),
            BillingJSON.customer)
    }

    private func addCustomer(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        let loan = BodyLoan(billing.parts.budget)
        defer { loan.end() }
        let details = try CustomerDetails(try await billing.body(request, on: loan))
        let customer = try await billing.store.orders.addBillingCustomer(details: details.json, publisher: publisher)
        return BillingContext.one(customer, status: .created, BillingJSON.customer)
    }

    private func customer(_ request: Request, _ context: FrontContext) async throws -> Response {
        BillingContext.one(try await known(request, context).customer, BillingJSON.customer)
    }

    private func contractsOfCustomer(_ request: Request, _ context: FrontContext) async throws -> Response {
        let (customer, publisher) = try await known(request, context)
        let contracts = try await billing.store.orders.contracts(
            of: publisher, customer: customer.id, try billing.page(request))
        return BillingContext.list(contracts, BillingJSON.contract)
    }

    private func known(
        _ request: Request, _ context: FrontContext
    ) async throws -> (customer: BillingCustomer, publisher: PublisherID) {
        let publisher = try await billing.publisher(request, context)
        let id = try billing.id(context, "customer")
        guard let customer = try await billing.store.orders.billingCustomer(id, publisher: publisher) else {
            throw BillingContext.unknown("customer")
        }
        return (customer, publisher)
    }
}
