import Formats
import NIOHTTP1
import OutboundHTTP
import RelayCore

extension CleengClient {
    /// Reads all pages of `GET /3.1/entitlements` within one deadline.
    ///
    /// If a later page fails, its verdict applies only to offers to which no earlier page entitles the customer.
    ///
    /// `offset` and `limit` are required. `offerType` is explicit because one-time purchases are omitted without it,
    /// and `status` because its default is not documented (Cleeng's reference "list entitlements").
    func readEntitlements(
        customerEmail: EmailAddress, offers: [OfferID], deadline: ContinuousClock.Instant
    ) async -> EntitlementReply {
        let scrubber = scrubber(for: customerEmail)
        var list = EntitlementList()
        var status: Int?
        while list.hasNext {
            let reply: HTTPReply
            do {
                reply = try await send(
                    entitlementsRequest(customerEmail, offset: list.elementCount), route: "/3.1/entitlements",
                    deadline: deadline)
            } catch {
                return EntitlementReply(
                    offers, status: nil, otherwise: .tryAgain(error, retryAfter: nil), read: list.entitlement(to:))
            }
            status = reply.status
            switch EntitlementPageAnswer(reply, scrubber: scrubber) {
            case .verdict(let verdict):
                return EntitlementReply(offers, status: status, otherwise: verdict, read: list.entitlement(to:))
            case .unknownCustomer where list.isUnread:
                return EntitlementReply(offers, status: status) { .success(OfferEntitlement(offer: $0, items: [])) }
            case .unknownCustomer:
                // Cleeng answered the earlier pages, so it knows the customer.
                return EntitlementReply(offers, status: status, read: list.entitlement(to:))
            case .page(let page):
                list.append(page)
            }
        }
        return EntitlementReply(offers, status: status, read: list.entitlement(to:))
    }

    private func entitlementsRequest(_ customerEmail: EmailAddress, offset: Int) -> OutboundRequest {
        OutboundRequest(
            url: "\(configuration.apiURL)/3.1/entitlements?customerEmail=\(customerEmail.text.percentEncoded)"
                + "&offset=\(offset)&limit=\(EntitlementList.pageLimit)&status=all&offerType=SPAR",
            headers: headers())
    }
}
