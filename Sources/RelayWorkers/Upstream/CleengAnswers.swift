import Cleeng
import Foundation
import NIOCore
import RelayCore
import RelayStore

extension ApplePayment {
    /// As the app sent it: bytes that were decoded are encoded again, which gives the very same text.
    init(_ purchase: StoredPurchase, _ receipt: Acceptance.Receipt) {
        let text =
            receipt.isText
            ? ByteBuffer(bytes: receipt.bytes.value)
            : ByteBuffer(string: Data(receipt.bytes.value).base64EncodedString())
        self.init(
            customerEmail: purchase.email.text, offerId: purchase.offerID.text,
            transactionId: purchase.transactionID.text,
            receiptData: text, appType: purchase.appType, ipAddress: purchase.ipAddress?.value,
            couponCode: purchase.couponCode?.text
        )
    }
}

extension AndroidPayment {
    init(_ purchase: StoredPurchase, _ receipt: StoreReceipt.Google) {
        self.init(
            customerEmail: purchase.email.text, offerId: purchase.offerID.text,
            receipt: Receipt(
                productId: receipt.productId.text, purchaseToken: receipt.purchaseToken,
                packageName: receipt.packageName.text,
                orderId: receipt.orderId, purchaseState: receipt.purchaseState, purchaseTime: receipt.purchaseTime,
                developerPayload: receipt.developerPayload),
            ipAddress: purchase.ipAddress?.value, couponCode: purchase.couponCode?.text)
    }
}

extension AmazonPayment {
    init(_ purchase: StoredPurchase, _ receipt: StoreReceipt.Amazon) {
        self.init(
            customerEmail: purchase.email.text, offerId: purchase.offerID.text, receiptId: receipt.receiptId,
            userId: receipt.userId, ipAddress: purchase.ipAddress?.value)
    }
}

extension ForwardAnswer {
    init(_ answer: PaymentReply, synchronization: String? = nil) {
        let verdict: Verdict =
            switch answer.verdict {
            case .accepted: .accepted
            case .rejected(let code, let message): .rejected(code: code, message: message)
            case .misconfigured(let message): .misconfigured(message: message)
            case .tryAgain(let trouble, let retryAfter):
                .tryAgain(why: trouble.shortDescription, retryAfter: retryAfter)
            }
        self.init(verdict, status: answer.status, latency: answer.latency, synchronization: synchronization)
    }

    /// For metrics.
    var label: String {
        switch verdict {
        case .accepted: "accepted"
        case .rejected: "rejected"
        case .misconfigured: "misconfigured"
        case .tryAgain: "try_again"
        }
    }

    /// A purchase that is refused says nothing against the upstream, and neither does one of which an earlier request is under
    /// way.
    var outcome: UpstreamHealth.Outcome {
        switch verdict {
        case .accepted, .rejected: .success
        case .tryAgain where status == 409 || status == 422: .success
        case .misconfigured(let message): .misconfigured(message ?? "HTTP \(status ?? 0)")
        case .tryAgain(let why, _): .failure(why)
        }
    }

    /// How long the upstream wants to be left alone on this route.
    var pauseOfRoute: Duration? {
        guard case .tryAgain(_, let retryAfter) = verdict else { return nil }
        return status.concernsTheRoute ? retryAfter : nil
    }
}

extension EntitlementAnswer {
    init(_ answer: EntitlementReply, offer: OfferID, observedAt: Timestamp) {
        let verdict: Verdict
        var namesEnds = true
        switch answer.verdict {
        case .read(let offers):
            let entitlement = offers[offer]
            let evidence = entitlement.map { $0.evidence.json } ?? "{}"
            namesEnds = entitlement?.evidence.source != .accessibleTags
            if let entitlement, entitlement.isEntitled {
                verdict = .entitled(
                    expiresAt: entitlement.expiresAt.map(Timestamp.init(seconds:)), evidence: evidence)
            } else {
                verdict = .notEntitled(evidence: evidence)
            }
        case .misconfigured(let message): verdict = .misconfigured(message: message)
        case .tryAgain(let trouble, let retryAfter):
            verdict = .tryAgain(why: trouble.shortDescription, retryAfter: retryAfter)
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

    /// How long the upstream wants to be left alone on this route.
    var pauseOfRoute: Duration? {
        guard case .tryAgain(_, let retryAfter) = verdict else { return nil }
        return status.concernsTheRoute ? retryAfter : nil
    }
}

extension SynchronizationAnswer {
    init(_ answer: SynchronizationReply, offer: OfferID, observedAt: Timestamp) {
        let verdict: Verdict
        switch answer.verdict {
        case .running(let status): verdict = .running(status)
        case .finalized(true, let granted, let result):
            if let granted, granted != offer {
                verdict = .grantedOther(offer: granted)
            } else {
                verdict = .granted(evidence: SynchronizationEvidence(offerId: granted, result: result).json)
            }
        case .finalized(nil, _, _): verdict = .unclear
        case .finalized(false, _, let result):
            verdict = .refused(result: String((result ?? "no_access").lowercased().prefix(100)))
        case .unknown: verdict = .unknown
        case .misconfigured(let message): verdict = .misconfigured(message: message)
        case .tryAgain(let trouble, let retryAfter):
            verdict = .tryAgain(why: trouble.shortDescription, retryAfter: retryAfter)
        }
        self.init(verdict, status: answer.status, latency: answer.latency, observedAt: observedAt)
    }

    /// For metrics.
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

    /// How long the upstream wants to be left alone on this route.
    var pauseOfRoute: Duration? {
        guard case .tryAgain(_, let retryAfter) = verdict else { return nil }
        return status.concernsTheRoute ? retryAfter : nil
    }
}

/// What a grant that rests on a synchronization is justified by.
private struct SynchronizationEvidence: Encodable {
    let source = "storekit2"
    let offerId: OfferID?
    let result: String?

    private enum CodingKeys: CodingKey { case source, offerId, result }
}

extension Int? {
    /// Too many calls, or out of service: a `Retry-After` with any other status speaks of the one call.
    fileprivate var concernsTheRoute: Bool { self == 429 || self == 503 }
}

extension EntitlementReply {
    /// For metrics.
    var label: String {
        switch verdict {
        case .read: "read"
        case .misconfigured: "misconfigured"
        case .tryAgain: "try_again"
        }
    }
}

extension Encodable {
    /// Keys sorted, so that the same evidence is the same text.
    fileprivate var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}
