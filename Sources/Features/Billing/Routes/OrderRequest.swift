import HTTPServer
import NIOCore
import Relay
import RelayCore

/// The validated body of `POST /api/v1/Orders`.
struct OrderRequest: Sendable {
    private static let names = FieldNames(
        ["CustomerId", "Customer", "ContractId", "ExternalSubscriptionId", "ExternalCart", "Cart"], inAnyCase: true)

    var terms: OrderTerms<CustomerDetails, CheckRequest>

    /// - Throws: ``Problem``.
    init(_ bytes: ByteBuffer) throws {
        var reader = try FieldReader(bytes, Self.names)
        guard reader["Cart"] == .absent else {
            throw Problem.invalidFields([
                FieldError("Cart", .invalid, "is not taken: the relay orders store subscriptions only")
            ])
        }
        let (customerID, contractID) = (reader.id("CustomerId"), reader.id("ContractId"))
        let subscriptionID = reader.id("ExternalSubscriptionId")
        let (customer, cart) = (reader.object("Customer"), reader.object("ExternalCart"))
        try reader.end()
        do {
            terms = try OrderTerms(
                customerID: customerID,
                customer: customer.map { try CustomerDetails(ByteBuffer(string: $0), in: "Customer.") },
                contractID: contractID, externalSubscriptionID: subscriptionID,
                cart: cart.map { try CheckRequest(ByteBuffer(string: $0), in: "ExternalCart.", mostReceiptBytes: nil) })
        } catch let error as OrderTermsError {
            throw Problem(.invalidFields, error.description)
        }
    }
}
