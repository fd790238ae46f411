import NIOCore
import RelayCore

/// The body of `POST /api/v1/Orders`, judged.
struct OrderRequest: Sendable {
    private static let names = [
        "CustomerId", "Customer", "ContractId", "ExternalSubscriptionId", "ExternalCart", "Cart",
    ]

    var terms: OrderTerms<CustomerDetails, CheckRequest>

    /// - Throws: ``Problem``.
    init(_ bytes: ByteBuffer) throws {
        let body = try BodyObject(bytes, names: Self.names)
        guard body["Cart"] == nil else {
            throw Problem.invalidFields([
                FieldError("Cart", .invalid, "is not taken: the relay orders store subscriptions only")
            ])
        }
        var errors: [FieldError] = []
        let customerID = body.id("CustomerId", &errors)
        let contractID = body.id("ContractId", &errors)
        let subscriptionID = body.id("ExternalSubscriptionId", &errors)
        let customer = body.object("Customer", &errors)
        let cart = body.object("ExternalCart", &errors)
        guard errors.isEmpty else { throw Problem.invalidFields(errors) }
        do {
            terms = try OrderTerms(
                customerID: customerID,
                customer: customer.map {
                    try CustomerDetails(BodyObject($0, names: CustomerDetails.names), path: "Customer.")
                }, contractID: contractID, externalSubscriptionID: subscriptionID,
                cart: cart.map { try Self.cart(BodyObject($0, names: CheckRequest.names)) })
        } catch let error as OrderTermsError {
            throw Problem(.invalidFields, error.description)
        }
    }

    private static func cart(_ body: BodyObject) throws -> CheckRequest {
        if case .text(let type)? = body["Type"], StorePlatform(iapType: type) == .apple {
            throw Problem.invalidFields([
                FieldError(
                    "ExternalCart.Type", .invalid,
                    "must not be AppleIap: check the receipt first, and order by ExternalSubscriptionId")
            ])
        }
        return try CheckRequest(body, path: "ExternalCart.")
    }
}
