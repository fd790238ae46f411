import Formats
import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore
import RelayStore

/// `POST /ops/customers/{email}/refresh`: asks Cleeng now what a customer is entitled to.
struct CustomerOpsRoutes: Sendable {
    let authenticator: Authenticator
    let bodies: BodyReader
    let actions: OpsActions

    var routes: [Route] { [.post("/ops/customers/:email/refresh", refresh)] }

    private func refresh(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let (reason, publisher) = try Self.parse(try await bodies.read(request))
        guard let text = context.parameters.get("email").map(CustomerPath.decoded), let customer = CustomerEmail(text)
        else {
            throw Problem(.notFound, "no customer goes by this email")
        }
        let asked = try await actions.refresh(
            customer, of: publisher, in: key.opsScope, by: key.actor, reason: reason)
        let known = try await actions.store.entitlements(of: customer.customer, publisher: asked.publisher)
        var writer = JSONWriter(capacity: 256 + 384 * known.count)
        writer.beginObject()
        writer.field("customerEmail", customer.customer)
        writer.field("publisher", asked.publisher)
        writer.field("outcome", asked.outcome.rawValue)
        writer.entitlements(known)
        writer.endObject()
        return .json(writer)
    }

    /// `{"reason":"…","publisher":"…"}`; the publisher may be missing.
    private static func parse(_ bytes: ByteBuffer) throws -> (reason: String, publisher: PublisherID?) {
        var (reason, publisher) = (JSONField.absent, JSONField.absent)
        try JSONScanner.readObject(bytes) { (scanner, name) throws(JSONSyntaxError) in
            switch name {
            case "reason": reason = try JSONField(&scanner, depth: 2)
            case "publisher": publisher = try JSONField(&scanner, depth: 2)
            default: try scanner.skip(depth: 2)
            }
        }
        var reader = FieldReader()
        let why = OperatorReason.judge(reason, &reader)
        let named = reader.optional(publisher, "publisher").map { PublisherID($0) }
        guard reader.errors.isEmpty, let why else { throw Problem.invalidFields(reader.errors) }
        return (why, named)
    }
}
