import HTTPServer
import Hummingbird
import NIOCore
import Relay
import RelayCore

/// Routes `GET` and `PUT /v2/customers/{applicationUsername}/consumption`: a publisher's facts about a customer, for
/// answers to Apple about refunds.
extension PurchaseRoutes {
    /// Returns the stored facts. Without any there is no consent.
    func consumption(_ name: CustomerName) async throws -> Response {
        let facts = try await store.consumption.facts(of: name) ?? ConsumptionFacts(customerConsented: false)
        return Self.response(facts)
    }

    func keepConsumption(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(
            request, context, named: QueryItems(request.uri.query), opening: .publisher)
        guard case .consumption(let text)? = CustomerPath(request.uri.path) else {
            throw Problem(.notFound, "nothing has this address")
        }
        let name = try name(text, key)
        let facts = try ConsumptionFacts(body: try await bodies.read(request))
        try await store.consumption.keep(facts, of: name)
        return Self.response(facts)
    }

    private static func response(_ facts: ConsumptionFacts) -> Response {
        .json { $0.value(facts) }
    }
}

extension ConsumptionFacts {
    private static let names = [
        "customerConsented", "sampleContentProvided", "consumptionPercentage", "refundPreference", "userStatus",
    ]

    /// - Throws: ``Problem`` 400 and 422.
    init(body: ByteBuffer) throws {
        var reader = try FieldReader(act: body, Self.names)
        let isConsented = reader.flag("customerConsented")
        let isSample = reader.flag("sampleContentProvided")
        let percentage = reader.number("consumptionPercentage", in: Self.percentages)
        let preference = reader.choice("refundPreference", RefundPreference.self)
        let status = reader.choice("userStatus", UserStatus.self)
        if reader["customerConsented"] == .absent { reader.add("customerConsented", .required, "is required") }
        self.init(
            customerConsented: isConsented, sampleContentProvided: isSample, consumptionPercentage: percentage,
            refundPreference: preference, userStatus: status)
        if !isConsistent {
            reader.add(
                "consumptionPercentage", .invalid,
                "must be more than 0 and less than 100000 where refundPreference is GRANT_PRORATED")
        }
        try reader.end()
    }
}
