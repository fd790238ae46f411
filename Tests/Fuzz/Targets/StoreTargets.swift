import Foundation
import OutboundHTTP
import RelayCore

@testable import AmazonAppStore
@testable import AppStoreServer
@testable import GooglePlay
@testable import StoreAPI

extension FuzzTarget {
    static let google = FuzzTarget(
        "google",
        seeds: replies([
            #"{"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"2026-01-02T03:04:05.123456789Z","latestOrderId":"GPA.1","lineItems":[{"productId":"month","expiryTime":"2030-01-02T03:04:05Z","autoRenewingPlan":{"autoRenewEnabled":true},"offerDetails":{"basePlanId":"b"}}],"canceledStateContext":{"userInitiatedCancellation":{"cancelTime":"2026-01-03T00:00:00Z"}},"testPurchase":{}}"#,
            #"{"purchaseTimeMillis":"1767323045000","orderId":"GPA.2","purchaseState":0,"consumptionState":0,"acknowledgementState":1}"#,
            #"{"error":{"code":403,"status":"RESOURCE_EXHAUSTED","errors":[{"reason":"rateLimitExceeded"}],"details":[{"reason":"RATE_LIMIT_EXCEEDED"}]}}"#,
        ])
    ) { bytes in
        let reply = FuzzReply(bytes).reply
        if let json = JSONValue(reply.wholeBody) {
            if let found = SubscriptionPurchaseV2(json, token: "t") {
                try FuzzStores.check(found.subscription(readAt: FuzzLedger.now))
            }
            if let found = ProductPurchase(json, productID: "p", token: "t") {
                try FuzzStores.check(found.subscription(readAt: FuzzLedger.now))
            }
        }
        let refusals: [StoreAnswer<Bool>] = [
            GoogleRefusal.purchase(reply), GoogleRefusal.token(reply),
        ]
        for case .tryAgain(_, let pause) in refusals { try FuzzFinding.check(pause, atMost: .seconds(3_600)) }
    }

    static let amazon = FuzzTarget(
        "amazon",
        seeds: replies([
            #"{"productId":"month","productType":"SUBSCRIPTION","receiptId":"r","purchaseDate":1767323045000,"renewalDate":1893456000000,"cancelDate":null,"autoRenewing":true,"gracePeriodEndDate":1893456000001,"freeTrialEndDate":1,"termSku":"s","promotions":[{"promotionStatus":"InProgress","promotionType":"Introductory Price"}],"testTransaction":true,"cancelReason":1,"quantity":1}"#,
            #"{"productId":"pass","productType":"ENTITLED","purchaseDate":"1767323045000","cancelDate":1767323045001}"#,
        ])
    ) { bytes in
        let reply = FuzzReply(bytes).reply
        if let json = JSONValue(reply.wholeBody), let found = AmazonReceipt(json, receiptID: "r") {
            try FuzzStores.check(found.subscription(readAt: FuzzLedger.now))
        }
        try FuzzFinding.check(reply.headers.retryAfter(), atMost: .seconds(3_600))
    }

    static let appStoreServer = FuzzTarget(
        "app-store-server",
        seeds: replies([
            #"{"data":[{"lastTransactions":[{"originalTransactionId":"1","status":1,"signedTransactionInfo":"a.b.c","signedRenewalInfo":"a.b.c"}]}]}"#,
            #"{"notificationHistory":[{"signedPayload":"a.b.c"}],"hasMore":true,"paginationToken":"p"}"#,
            #"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#,
        ])
    ) { bytes in
        let answer: AppStoreAnswer<Bool> = AppStoreRefusal.answer(FuzzReply(bytes).reply, now: 1_795_168_800_000)
        if case .tryAgain(_, let pause) = answer { try FuzzFinding.check(pause, atMost: .seconds(3_600)) }
        let body = Data(FuzzReply(bytes).body)
        _ = try? JSONDecoder().decode(AppStoreServerClient.Statuses.self, from: body)
        _ = try? JSONDecoder().decode(AppStoreServerClient.History.self, from: body)
    }
}

private enum FuzzStores {
    static func check(_ subscription: StoreSubscription) throws {
        for moment in [
            subscription.firstPurchasedAt, subscription.graceUntil, subscription.paidUntil, subscription.resumesAt,
            subscription.expiresAt, subscription.cancellation?.at,
        ] {
            try FuzzFinding.check(moment)
        }
        FuzzLedger.hear(subscription.ledgerWord)
    }
}
