import Foundation
import SimulatorKit

extension SimulatedGoogle {
    /// `POST …/tokens/{token}:acknowledge`. A repeated acknowledgement succeeds and is only counted.
    mutating func acknowledge(
        _ type: GoogleAddress.PurchaseType, _ product: String, _ token: String, of package: String, _ call: Call,
        at now: Date
    ) throws(GoogleFault) -> Reply {
        guard Self.isAcknowledgement(call.body) else { throw .invalid("Invalid JSON payload received.") }
        guard !gone.contains(token) else { throw .gone }
        switch type {
        case .subscription:
            guard var kept = subscriptions[token], kept.packageName == package, kept.productId == product else {
                throw .unknown
            }
            guard !kept.isPending else { throw .notOwned }
            (kept.isAcknowledged, kept.acknowledgements) = (true, (kept.acknowledgements ?? 0) + 1)
            subscriptions[token] = kept
        case .product:
            guard var kept = products[token], kept.packageName == package, kept.productId == product else {
                throw .unknown
            }
            guard kept.isPaid else { throw .notOwned }
            (kept.isAcknowledged, kept.acknowledgements) = (true, (kept.acknowledgements ?? 0) + 1)
            products[token] = kept
        }
        return Reply(status: 200)
    }

    /// Google accepts an empty body too.
    private static func isAcknowledgement(_ body: Data?) -> Bool {
        struct Body: Decodable { var developerPayload: String? }
        guard let body else { return false }
        return body.isEmpty || (try? JSONBody.decode(Body.self, from: body, fields: ["developerPayload"])) != nil
    }
}

extension GoogleFault {
    fileprivate static let notOwned = GoogleFault.invalid(
        "The product purchase is not owned by the user.", reason: "productNotOwnedByUser")
}
