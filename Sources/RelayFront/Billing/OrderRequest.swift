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
        let fields = try JSONFields(bytes, inAnyCase: Self.names)
        guard fields["Cart"] == .absent else {
            throw Problem.invalidFields([
                FieldError("Cart", .invalid, "is not taken: the relay orders store subscriptions only")
            ])
        }
        var reader = FieldReader(fields)
        let (customerID, contractID) = (reader.id("CustomerId"), reader.id("ContractId"))
        let subscriptionID = reader.id("ExternalSubscriptionId")
        let (customer, cart) = (reader.object("Customer"), reader.object("ExternalCart"))
        try reader.end()
        do {
            terms = try OrderTerms(
                customerID: customerID,
                customer: customer.map {
                    try CustomerDetails(
                        JSONFields(ByteBuffer(string: $0), inAnyCase: CustomerDetails.names), path: "Customer.")
                }, contractID: contractID, externalSubscriptionID: subscriptionID,
                cart: cart.map { try Self.cart(JSONFields(ByteBuffer(string: $0), inAnyCase: CheckRequest.names)) })
        } catch let error as OrderTermsError {
            throw Problem(.invalidFields, error.description)
        }
    }

    private static func cart(_ fields: JSONFields) throws -> CheckRequest {
        if case .string(let type) = fields["Type"], StorePlatform(iapType: type) == .apple {
            throw Problem.invalidFields([
                FieldError(
                    "ExternalCart.Type", .invalid,
                    "must not be AppleIap: check the receipt first, and order by ExternalSubscriptionId")
            ])
        }
        return try CheckRequest(fields, path: "ExternalCart.")
    }
}
