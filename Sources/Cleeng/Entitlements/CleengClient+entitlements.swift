import AsyncHTTPClient
import Formats
import NIOHTTP1
import OutboundHTTP
import RelayCore

extension CleengClient {
    static let pageLimit = 100
    static let maximumPages = 10

    /// Reads all pages of `GET /3.1/entitlements` within one deadline.
    ///
    /// `offset` and `limit` are required. `offerType` is spelled out because one-time purchases are left out without it,
    /// and `status` because its default is not documented (Cleeng's reference "list entitlements").
    func readEntitlements(
        customerEmail: EmailAddress, offers: [OfferID], deadline: ContinuousClock.Instant
    ) async -> EntitlementReply {
        let scrubber = scrubber(for: customerEmail)
        var items: [EntitlementItem] = []
        var offset = 0
        var status: Int?
        for _ in 0..<Self.maximumPages {
            let reply: HTTPReply
            do {
                reply = try await send(
                    entitlementsRequest(customerEmail, offset: offset), route: "/3.1/entitlements", deadline: deadline)
            } catch {
                return EntitlementReply(verdict: .tryAgain(error, retryAfter: nil), status: nil)
            }
            status = reply.status
            switch EntitlementPageAnswer(reply, scrubber: scrubber) {
            case .verdict(let verdict):
                return EntitlementReply(verdict: verdict, status: status)
            case .unknownCustomer:
                return EntitlementReply(verdict: .read(Self.entitlements(offers, items: [])), status: status)
            case .page(let page):
                items += page.items
                offset += page.elementCount
                let isLast = page.totalItemCount.map { offset >= $0 } ?? (page.elementCount < Self.pageLimit)
                if isLast || page.elementCount == 0 {
                    return EntitlementReply(verdict: .read(Self.entitlements(offers, items: items)), status: status)
                }
            }
        }
        return EntitlementReply(verdict: .read(Self.entitlements(offers, items: items)), status: status)
    }

    private func entitlementsRequest(_ customerEmail: EmailAddress, offset: Int) -> OutboundRequest {
        OutboundRequest(
            url: "\(configuration.apiURL)/3.1/entitlements?customerEmail=\(customerEmail.text.percentEncoded)"
                + "&offset=\(offset)&limit=\(Self.pageLimit)&status=all&offerType=SPAR",
            headers: headers())
    }

    static func entitlements(_ offers: [OfferID], items: [EntitlementItem]) -> [OfferID: OfferEntitlement] {
        Dictionary(offers.map { ($0, OfferEntitlement(offer: $0, items: items)) }) { first, _ in first }
    }
}
