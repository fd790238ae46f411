import NIOCore
import OutboundHTTP
import RelayCore

@testable import Cleeng

extension FuzzTarget {
    static let cleengEvents = FuzzTarget(
        "cleeng-events",
        seeds: texts([
            #"{"broadcasterId":1,"topic":"inappPurchaseValidationSucceeded","data":{"result":"SubscriptionCreated","offerId":"S1_US","active":true,"customerEmail":"ana@example.test","expirationDate":1893456000}}"#,
            #"{"topic":"subscriptionTerminated","data":{"offerId":"S1_US","email":"ana@example.test","customerId":"7","expiresAt":"2030-01-01T00:00:00+01:00"}}"#,
            #"{"topic":"inappPurchaseSyncResult","data":{"synchronizationId":"x","accessGranted":false,"errorCode":7}}"#,
        ])
    ) { bytes in
        guard let event = CleengEvent(ByteBuffer(bytes: bytes)) else { return }
        try FuzzFinding.check(event.expiresAt)
        _ = event.evidence
    }

    static let cleengEntitlements = FuzzTarget(
        "cleeng-entitlements",
        seeds: replies([
            #"{"items":[{"offerId":"S1_US","status":"active","expiresAt":1893456000}],"totalItemCount":1}"#,
            #"{"data":{"items":[{"offerId":"S1_US","status":"cancelled","expiresAt":"2030-01-01T00:00:00Z"}],"totalItemCount":"2"}}"#,
            #"{"message":"Customer not found"}"#,
        ])
    ) { bytes in
        let reply = FuzzReply(bytes).reply
        switch EntitlementPageAnswer(reply, scrubber: CleengReplies.scrubber) {
        case .page(let page):
            let entitlement = OfferEntitlement(offer: "S1_US", items: page.items)
            try FuzzFinding.check(entitlement.expiresAt.map { Timestamp(seconds: $0) })
        case .verdict(.tryAgain(_, let pause)): try FuzzFinding.check(pause, atMost: .seconds(3_600))
        case .unknownCustomer, .verdict: break
        }
    }

    /// Answers to forwards for all stores, to connectors' requests, and to forwarded notifications.
    static let cleengPayments = FuzzTarget(
        "cleeng-payments",
        seeds: replies([
            #"{"success":true}"#, #"{"code":"REQ0004","message":"x"}"#, #"{"errors":["The receipt is invalid."]}"#,
            #"{"synchronizationId":"0e2a3b9c-0000-4000-8000-000000000000"}"#,
            #"{"status":"finalized","accessGranted":true,"offerId":"S1_US","result":"SUBSCRIPTION_CREATED"}"#,
            #"{"error":{"code":"SK2C0101","message":"another request"}}"#,
        ])
    ) { bytes in
        let reply = FuzzReply(bytes).reply
        for verdict in [
            ForwardAnswer.Verdict(reply, scrubber: CleengReplies.scrubber),
            ForwardAnswer.Verdict(reply, of: .storekit2, name: "x", scrubber: CleengReplies.scrubber),
            ForwardAnswer.Verdict(reply, of: .google, name: "x", scrubber: CleengReplies.scrubber),
        ] {
            guard case .tryAgain(_, let pause) = verdict else { continue }
            try FuzzFinding.check(pause, atMost: .seconds(3_600))
        }
        for connector in Connector.allCases {
            guard
                case .tryAgain(_, let pause) = SynchronizationAnswer.Verdict(
                    reply, of: connector, offer: "S1_US", scrubber: CleengReplies.scrubber)
            else { continue }
            try FuzzFinding.check(pause, atMost: .seconds(3_600))
        }
        if case .tryAgain(_, let pause) = DeliveryAnswer.Verdict(reply) {
            try FuzzFinding.check(pause, atMost: .seconds(3_600))
        }
    }

    static let cleengRPC = FuzzTarget(
        "cleeng-json-rpc",
        seeds: replies([
            #"{"result":{"token":"t","tags":["S1_US",7]},"id":"1","jsonrpc":"2.0"}"#,
            #"{"error":{"code":10,"message":"unknown"},"id":null}"#,
        ])
    ) { bytes in
        let reply = FuzzReply(bytes).reply
        switch JSONRPCReply(reply, scrubber: CleengReplies.scrubber) {
        case .result(let result): _ = Set((result["tags"]?.list ?? []).compactMap(\.scalarText))
        case .verdict(.tryAgain(_, let pause)): try FuzzFinding.check(pause, atMost: .seconds(3_600))
        case .failed, .verdict: break
        }
    }
}

private enum CleengReplies {
    static let scrubber = MessageScrubber(hiding: ["token", "ana@example.test"])
}
