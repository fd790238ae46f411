import Cleeng
import Foundation
import NIOCore
import RelayCore

extension Payment.Receipt {
    /// The receipt as the app sent it. Decoded bytes are encoded again, which restores the same text.
    init(_ receipt: Acceptance.Receipt, of purchase: StoredPurchase) {
        let text =
            receipt.isText
            ? ByteBuffer(bytes: receipt.bytes.value)
            : ByteBuffer(string: Data(receipt.bytes.value).base64EncodedString())
        self = .apple(text, transactionID: purchase.transactionID, appType: purchase.appType)
    }
}

extension Payment {
    init(_ purchase: StoredPurchase, _ receipt: Receipt) {
        self.init(
            customerEmail: purchase.email, offerID: purchase.offerID, receipt: receipt,
            ipAddress: purchase.ipAddress?.value, couponCode: purchase.couponCode)
    }
}

extension ForwardAnswer {
    /// Label of metrics.
    var label: String {
        switch verdict {
        case .accepted: "accepted"
        case .duplicate: "duplicate"
        case .rejected: "rejected"
        case .misconfigured: "misconfigured"
        case .tryAgain: "try_again"
        }
    }

    /// Outcome for the upstream's health. A refused purchase is no failure of the upstream, and neither is a conflict
    /// with an earlier request that is still running.
    var outcome: UpstreamHealth.Outcome {
        switch verdict {
        case .accepted, .duplicate, .rejected: .success
        case .tryAgain where status == 409 || status == 422: .success
        case .misconfigured(let message): .misconfigured(message ?? "HTTP \(status ?? 0)")
        case .tryAgain(let why, _): .failure(why)
        }
    }

    /// Pause that the upstream requests for the whole route.
    var pauseOfRoute: Duration? {
        guard case .tryAgain(_, let retryAfter) = verdict else { return nil }
        return status.concernsTheRoute ? retryAfter : nil
    }
}

extension EntitlementAnswer {
    init(_ answer: EntitlementReply, offer: OfferID, observedAt: Timestamp) {
        let verdict: Verdict
        var namesEnds = true
        switch answer.verdict(of: offer) {
        case .read(let offers):
            let entitlement = offers[offer]
            let evidence = entitlement?.evidence ?? "{}"
            namesEnds = entitlement?.source != .accessibleTags
            if let entitlement, entitlement.isEntitled {
                verdict = .entitled(
                    expiresAt: entitlement.expiresAt.map(Timestamp.init(seconds:)), evidence: evidence)
            } else {
                verdict = .notEntitled(evidence: evidence)
            }
        case .misconfigured(let message): verdict = .misconfigured(message: message)
        case .tryAgain(let trouble, let retryAfter):
            verdict = .tryAgain(why: trouble.rawValue, retryAfter: retryAfter)
        }
        self.init(
            verdict, status: answer.status, latency: answer.latency, observedAt: observedAt, namesEnds: namesEnds)
    }

    var outcome: UpstreamHealth.Outcome {
        switch verdict {
        case .entitled, .notEntitled: .success
        case .misconfigured(let message): .misconfigured(message ?? "HTTP \(status ?? 0)")
        case .tryAgain(let why, _): .failure(why)
        }
    }

    /// Pause that the upstream requests for the whole route.
    var pauseOfRoute: Duration? {
        guard case .tryAgain(_, let retryAfter) = verdict else { return nil }
        return status.concernsTheRoute ? retryAfter : nil
    }
}

extension SynchronizationAnswer {
    /// Label of metrics.
    var label: String {
        switch verdict {
        case .running, .granted, .grantedOther, .unclear, .refused, .unknown: "read"
        case .misconfigured: "misconfigured"
        case .tryAgain: "try_again"
        }
    }

    var outcome: UpstreamHealth.Outcome {
        switch verdict {
        case .running, .granted, .grantedOther, .unclear, .refused, .unknown: .success
        case .misconfigured(let message): .misconfigured(message ?? "HTTP \(status ?? 0)")
        case .tryAgain(let why, _): .failure(why)
        }
    }

    /// Pause that the upstream requests for the whole route.
    var pauseOfRoute: Duration? {
        guard case .tryAgain(_, let retryAfter) = verdict else { return nil }
        return status.concernsTheRoute ? retryAfter : nil
    }
}

extension Int? {
    /// Whether a `Retry-After` concerns the whole route: too many calls, or out of service. With any other status it
    /// concerns only the one call.
    fileprivate var concernsTheRoute: Bool { self == 429 || self == 503 }
}

extension EntitlementReply {
    /// Label of metrics.
    var label: String {
        switch verdict {
        case .read: "read"
        case .misconfigured: "misconfigured"
        case .tryAgain: "try_again"
        }
    }
}
