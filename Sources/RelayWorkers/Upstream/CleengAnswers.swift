import Cleeng
import Foundation
import NIOCore
import RelayCore
import RelayStore

extension ApplePayment {
    /// As the app sent it: bytes that were decoded are encoded again, which gives the very same text.
    init(_ purchase: Purchase) {
        let text =
            purchase.receipt.isText
            ? ByteBuffer(bytes: purchase.receipt.bytes)
            : ByteBuffer(string: Data(purchase.receipt.bytes).base64EncodedString())
        self.init(
            customerEmail: purchase.email, offerId: purchase.offerID, transactionId: purchase.transactionID,
            receiptData: text, appType: purchase.appType, ipAddress: purchase.ipAddress, couponCode: purchase.couponCode
        )
    }
}

extension RelayCore.ForwardAnswer {
    init(_ answer: Cleeng.ForwardAnswer) {
        let verdict: Verdict =
            switch answer.verdict {
            case .accepted: .accepted
            case .rejected(let code, let message): .rejected(code: code, message: message)
            case .misconfigured(let message): .misconfigured(message: message)
            case .tryAgain(let trouble, let retryAfter):
                .tryAgain(why: trouble.shortDescription, retryAfter: retryAfter)
            }
        self.init(verdict, status: answer.status, latency: answer.latency)
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

    /// A purchase that is refused says nothing against the upstream.
    var outcome: UpstreamHealth.Outcome {
        switch verdict {
        case .accepted, .rejected: .success
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

extension RelayCore.EntitlementAnswer {
    init(_ answer: Cleeng.EntitlementAnswer, offer: String, observedAt: Timestamp) {
        let verdict: Verdict
        switch answer.verdict {
        case .read(let offers):
            let entitlement = offers[offer]
            let evidence = entitlement.map { $0.evidence.json } ?? "{}"
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
        self.init(verdict, status: answer.status, latency: answer.latency, observedAt: observedAt)
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

extension Int? {
    /// Too many calls, or out of service: a `Retry-After` with any other status speaks of the one call.
    fileprivate var concernsTheRoute: Bool { self == 429 || self == 503 }
}

extension Cleeng.EntitlementAnswer {
    /// For metrics.
    var label: String {
        switch verdict {
        case .read: "read"
        case .misconfigured: "misconfigured"
        case .tryAgain: "try_again"
        }
    }
}

extension EntitlementEvidence {
    /// Keys sorted, so that the same evidence is the same text.
    fileprivate var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}
