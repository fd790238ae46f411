import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `POST /api/v1/ExternalSubscriptions/check`: which subscriptions these are, and which of them have a contract.
struct CheckRoutes: Sendable {
    let desk: BillingDesk

    var routes: [Route] { [.post("/api/v1/externalsubscriptions/check", check)] }

    private func check(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await desk.publisher(request, context)
        let loan = BodyLoan(desk.budget)
        defer { loan.end() }
        let body = try await desk.body(request, on: loan, atMost: desk.maxBodyBytes)
        let wanted = try CheckRequest(
            BodyObject(body, names: CheckRequest.names), mostReceiptBytes: desk.maxBodyBytes)
        let found = try await desk.find(wanted, publisher: publisher)
        let checked = try await desk.store.record(found, publisher: publisher)
        return BillingDesk.one(checked, BillingJSON.subscriptions)
    }
}

extension BillingDesk {
    /// - Throws: ``Problem``: 404 where Apple knows no such transaction, 422 where the store says no or cannot be asked at all, 503
    ///   where it cannot be asked now.
    func find(_ wanted: CheckRequest, publisher: String) async throws -> [ExternalSubscription] {
        let query: ExternalStoreQuery
        switch wanted {
        case .appleReceipt(let text): return try await receipts.subscriptions(in: text)
        case .store(let one): query = one
        }
        if case .apple(let id, _) = query {
            let known = try await store.subscriptions(ofTransaction: id, publisher: publisher)
            guard known.isEmpty else { return known }
        }
        let platform = query.platform
        switch await stores[publisher][platform]?.find(query) ?? .notConfigured {
        case .found(let found): return found
        case .no(let reason), .ended(let reason): throw Self.refused("\(platform.iapType): \(reason)")
        case .unknown where platform == .apple: throw Self.unknown("subscription")
        case .unknown: throw Self.refused("\(platform.iapType): the store knows no such subscription")
        case .notConfigured where platform == .apple:
            throw Problem(
                .notFound,
                "no subscription is known by this transaction, and the App Store Server API is not configured")
        case .notConfigured: throw Self.refused("\(platform.iapType) is not configured here")
        case .tryAgain(let pause):
            let seconds = max(1, Int((pause ?? .seconds(10)).seconds.rounded(.up)))
            throw Problem(
                .storeUnavailable, "the store cannot be asked now; send the same request again", retryAfter: seconds)
        }
    }

    static func refused(_ detail: String) -> Problem { Problem(.receiptNotGenuine, detail) }
}
