import HTTPServer
import Hummingbird
import Relay
import RelayCore

/// `POST /api/v1/ExternalSubscriptions/check`: finds the subscriptions of a purchase and their contracts.
struct CheckRoutes: Sendable {
    let billing: BillingContext

    var routes: [Route] { [.post("/api/v1/externalsubscriptions/check", check)] }

    private func check(_ request: Request, _ context: FrontContext) async throws -> Response {
        let publisher = try await billing.publisher(request, context)
        let loan = BodyLoan(billing.parts.budget)
        defer { loan.end() }
        let body = try await billing.body(request, on: loan, atMost: billing.parts.maxBodyBytes)
        let wanted = try CheckRequest(body, mostReceiptBytes: billing.parts.maxBodyBytes)
        let checked = try await billing.check(wanted, publisher: publisher)
        return BillingContext.one(checked, BillingJSON.subscriptions)
    }
}

extension BillingContext {
    /// Finds the subscriptions and stores them, so that an order can name them. A subscription of another publisher's
    /// app is unknown here, even with a valid transaction or receipt.
    ///
    /// - Throws: as ``find(_:publisher:)``.
    func check(_ wanted: CheckRequest, publisher: PublisherID) async throws -> [CheckedSubscription] {
        let found = try await find(wanted, publisher: publisher)
        let checked = try await store.orders.record(found, publisher: publisher)
        guard checked.isEmpty, !found.isEmpty else { return checked }
        switch wanted {
        case .appleReceipt: throw Self.refused("AppleIapReceipt is not of an app of this publisher")
        case .store(let query): throw Self.unknown(to: query.platform)
        }
    }

    /// The error if the store, or this publisher, does not know the purchase.
    private static func unknown(to platform: StorePlatform) -> Problem {
        platform == .apple
            ? unknown("subscription") : refused("\(platform.iapType): the store knows no such subscription")
    }

    /// - Throws: ``Problem``: 404 if Apple does not know the transaction; 422 if the store denies the purchase or is
    ///   not configured; 503 if it cannot be asked now.
    func find(_ wanted: CheckRequest, publisher: PublisherID) async throws -> [ExternalSubscription] {
        let query: ExternalStoreQuery
        switch wanted {
        case .appleReceipt(let text):
            return try await asStoreHas(try await parts.acceptor.receipts.subscriptions(in: text), publisher)
        case .store(let one): query = one
        }
        if query.platform == .apple {
            let known = try await store.orders.subscriptions(
                ofTransaction: TransactionID(query.id), publisher: publisher)
            guard known.isEmpty else { return try await asStoreHas(known, publisher) }
        }
        let platform = query.platform
        let answer = await parts.acceptor.stores.ask(query, of: publisher)
        switch answer {
        case .found(let found): return found
        case .no(let reason), .ended(let reason): throw Self.refused("\(platform.iapType): \(reason)")
        case .unknown: throw Self.unknown(to: platform)
        case .notConfigured where platform == .apple:
            throw Problem(
                .notFound,
                "no subscription is known by this transaction, and the App Store Server API is not configured")
        case .notConfigured: throw Self.refused("\(platform.iapType) is not configured here")
        case .misconfigured, .tryAgain:
            throw Problem(
                .storeUnavailable, "the store cannot be asked now; send the same request again",
                retryAfter: answer.retryAfterSeconds)
        }
    }

    /// Asks the App Store about subscriptions that renew, if possible: receipts and the ledger are snapshots.
    ///
    /// - Returns: the same subscriptions; those that the App Store did not mention are unchanged.
    private func asStoreHas(
        _ subscriptions: [ExternalSubscription], _ publisher: PublisherID
    ) async throws -> [ExternalSubscription] {
        var subscriptions = subscriptions
        // The subscriptions are sorted: the longest-running first.
        for (place, one) in subscriptions.enumerated().prefix(Self.mostAsked) where !one.lastsForEver {
            let query = ExternalStoreQuery(.apple, id: one.key.text, detail: one.bundleID)
            let answer = await parts.acceptor.stores.ask(query, of: publisher)
            guard case .found(let found) = answer else {
                if answer.pause != nil { break }
                continue
            }
            if let now = found.first(where: { $0.key == one.key && $0.environment == one.environment }) {
                subscriptions[place] = now
            }
        }
        return subscriptions
    }

    /// Bound of calls to the App Store in one check.
    private static let mostAsked = 4

    static func refused(_ detail: String) -> Problem { Problem(.receiptNotGenuine, detail) }
}

extension ExternalSubscription {
    /// Whether it never ends, so that the store need not be asked.
    fileprivate var lastsForEver: Bool {
        !statement.periods.isEmpty && statement.periods.allSatisfy { $0.expiresAt == nil }
    }
}
