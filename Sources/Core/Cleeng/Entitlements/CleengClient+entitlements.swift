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

/// Meaning of one response to `GET /3.1/entitlements`.
enum EntitlementPageAnswer {
    case page(EntitlementPage)
    /// Cleeng does not know the customer, who is therefore not entitled yet.
    case unknownCustomer
    case verdict(EntitlementReply.Verdict)

    /// Sorts the statuses like those of a forward. But a read rejects nothing: 400 and 422 are retried.
    ///
    /// The answer for an unknown email is not documented. A 404 whose message is about a customer counts as that; any
    /// other 404 is a wrong URL.
    init(_ reply: HTTPReply, scrubber: MessageScrubber) {
        switch reply.status {
        case 200..<300:
            switch reply.body {
            case .success(let body):
                self = EntitlementPage(body).map { .page($0) } ?? .verdict(.tryAgain(.unreadable, retryAfter: nil))
            case .failure(let error):
                self = .verdict(.tryAgain(CleengTrouble(error), retryAfter: nil))
            }
        case 404:
            self = reply.isAboutCustomer ? .unknownCustomer : .verdict(.misconfigured(message: nil))
        default:
            self = .verdict(.init(failed: reply, scrubber: scrubber))
        }
    }
}

extension EntitlementReply.Verdict {
    /// Verdict for a status without success, from any read.
    init(failed reply: HTTPReply, scrubber: MessageScrubber) {
        if StatusSorting.isMisconfiguration(reply.status) {
            self = .misconfigured(message: UpstreamMessage(reply.wholeBody, scrubber: scrubber).message)
        } else {
            self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: reply.headers.retryAfter())
        }
    }
}
