import Foundation
import SimulatorKit

/// Received consumption information about purchases with refund requests, in order of arrival.
struct ReceivedConsumption: Sendable {
    struct Item: Sendable, Encodable {
        let transactionId: String
        /// In milliseconds since 1970.
        let at: Int64
        let request: ConsumptionRequest

        private enum CodingKeys: String, CodingKey {
            case transactionId, at
            case request = "told"
        }
    }

    static let capacity = 10_000

    private(set) var items: [Item] = []

    mutating func add(_ item: Item) {
        items.append(item)
        if items.count > Self.capacity { items.removeFirst() }
    }
}

/// App Store Server API, `ConsumptionRequest`.
struct ConsumptionRequest: Sendable, Codable {
    static let deliveries = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
    ]
    static let preferences = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]

    let customerConsented: Bool?
    let sampleContentProvided: Bool?
    let deliveryStatus: String?
    let consumptionPercentage: Int?
    let refundPreference: String?

    /// - Parameter renews: whether it is an auto-renewable subscription.
    func check(renews: Bool) throws(APIFault) {
        guard customerConsented == true else { throw .customerConsented }
        guard let deliveryStatus, Self.deliveries.contains(deliveryStatus) else { throw .deliveryStatus }
        guard sampleContentProvided != nil else { throw .sampleContent }
        guard refundPreference.map(Self.preferences.contains) ?? true else { throw .refundPreference }
        let isProrated = refundPreference == "GRANT_PRORATED"
        guard let consumptionPercentage else { return }
        guard !renews else { throw .percentageOfSubscription }
        guard (0...100_000).contains(consumptionPercentage) else { throw .badRequest }
        guard deliveryStatus == "DELIVERED" || consumptionPercentage == 0 else { throw .badRequest }
        guard !isProrated || (1..<100_000).contains(consumptionPercentage) else { throw .badRequest }
    }
}

/// `PUT /inApps/v2/transactions/consumption/{transactionId}` (App Store Server API, "Send Consumption Information").
extension SimulatedServerAPI {
    mutating func keepConsumption(of transactionId: String, _ call: Call, at now: Date) throws -> Reply {
        guard SubscriptionUpdate.isNumber(transactionId) else { throw APIFault.transactionId }
        let notification = history.items.last { $0.transactionIds.contains(transactionId) }
        let subscription = known.find(transactionId)
        guard notification != nil || subscription != nil else { throw APIFault.notFound }
        guard let body = call.body, let request: ConsumptionRequest = try? JSONBody.decode(from: body) else {
            throw APIFault.badRequest
        }
        try request.check(renews: subscription != nil || notification?.renews == true)
        consumption.add(
            ReceivedConsumption.Item(transactionId: transactionId, at: now.wholeMilliseconds, request: request))
        return Reply(status: 202)
    }
}

extension APIFault {
    private static func invalid(_ code: Int, _ field: String) -> APIFault {
        APIFault(status: 400, code: code, message: "Invalid request. The \(field) field is invalid.")
    }

    static let customerConsented = invalid(4_000_035, "customer consented")
    static let deliveryStatus = invalid(4_000_036, "delivery status")
    static let sampleContent = invalid(4_000_041, "sample content provided")
    static let refundPreference = invalid(4_000_044, "refund preference")
    static let percentageOfSubscription = APIFault(
        status: 400, code: 4_000_209,
        message:
            "Invalid request. The consumption percentage field is not supported for auto-renewable subscription transactions."
    )
}
