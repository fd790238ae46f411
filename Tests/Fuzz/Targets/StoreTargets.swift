import Foundation
import OutboundHTTP
import RelayCore

@testable import AmazonAppStore
@testable import AppStoreServer
@testable import GooglePlay
@testable import RokuPay
@testable import StoreAPI

extension FuzzTarget {
    static let google = FuzzTarget(
        "google",
        seeds: replies([
            #"{"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"2026-01-02T03:04:05.123456789Z","latestOrderId":"GPA.1","lineItems":[{"productId":"month","expiryTime":"2030-01-02T03:04:05Z","autoRenewingPlan":{"autoRenewEnabled":true},"offerDetails":{"basePlanId":"b"}}],"canceledStateContext":{"userInitiatedCancellation":{"cancelTime":"2026-01-03T00:00:00Z"}},"testPurchase":{}}"#,
            #"{"purchaseTimeMillis":"1767323045000","orderId":"GPA.2","purchaseState":0,"consumptionState":0,"acknowledgementState":1}"#,
            #"{"voidedPurchases":[{"purchaseToken":"t","orderId":"GPA.1","voidedTimeMillis":"1767323045000","voidedReason":1}],"tokenPagination":{"nextPageToken":"n"}}"#,
            #"{"error":{"code":403,"status":"RESOURCE_EXHAUSTED","errors":[{"reason":"rateLimitExceeded"}],"details":[{"reason":"RATE_LIMIT_EXCEEDED"}]}}"#,
        ])
    ) { bytes in
        let reply = FuzzReply(bytes).reply
        if let json = JSONValue(reply.wholeBody) {
            let now = FuzzLedger.now
            if let found = StoreSubscription(google: json, token: "t", readAt: now) { try FuzzStores.check(found) }
            for item in VoidedPurchases(json).items { try FuzzFinding.check(item.voidedAt) }
            if let found = StoreSubscription(googleProduct: json, productID: "p", token: "t", readAt: now) {
                try FuzzStores.check(found)
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
        if let json = JSONValue(reply.wholeBody),
            let found = StoreSubscription(amazon: json, receiptID: "r", readAt: FuzzLedger.now)
        {
            try FuzzStores.check(found)
        }
        try FuzzFinding.check(reply.headers.retryAfter(), atMost: .seconds(3_600))
    }

    static let roku = FuzzTarget(
        "roku",
        seeds: replies([
            #"{"status":0,"OriginalTransactionId":"o","transactionId":"t","productId":"month","amount":1.99,"cancelled":false,"isEntitled":true,"expirationDate":"/Date(1893456000000+0000)/","originalPurchaseDate":"/Date(1767323045000+0000)/","purchaseStatus":"Active","purchaseType":"UPGRADE","cancelledTransactionIds":["u"]}"#,
            #"{"status":1,"errorMessage":"UNAUTHORIZED"}"#,
        ])
    ) { bytes in
        let reply = FuzzReply(bytes).reply
        if let json = JSONValue(reply.wholeBody), RokuRefusal(json) == nil,
            let found = StoreSubscription(roku: json, asked: "t", readAt: FuzzLedger.now)
        {
            try FuzzStores.check(found)
        }
    }

    static let appStoreServer = FuzzTarget(
        "app-store-server",
        seeds: replies([
            #"{"data":[{"lastTransactions":[{"originalTransactionId":"1","status":1,"signedTransactionInfo":"a.b.c","signedRenewalInfo":"a.b.c"}]}]}"#,
            #"{"notificationHistory":[{"signedPayload":"a.b.c"}],"hasMore":true,"paginationToken":"p"}"#,
            #"{"signedTransactions":["a.b.c"],"hasMore":true,"revision":"r"}"#,
            #"{"signedPayload":"a.b.c","sendAttempts":[{"attemptDate":1767323045000,"sendAttemptResult":"SUCCESS"}]}"#,
            #"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#,
        ])
    ) { bytes in
        let answer: AppStoreAnswer<Bool> = AppStoreRefusal.answer(FuzzReply(bytes).reply, now: 1_795_168_800_000)
        if case .tryAgain(_, let pause) = answer { try FuzzFinding.check(pause, atMost: .seconds(3_600)) }
        let body = Data(FuzzReply(bytes).body)
        _ = try? JSONDecoder().decode(AppStoreServerClient.Statuses.self, from: body)
        _ = try? JSONDecoder().decode(AppStoreServerClient.History.self, from: body)
        _ = try? JSONDecoder().decode(RefundHistoryPage.self, from: body)
        _ = try? JSONDecoder().decode(TestNotificationStatus.self, from: body)
    }
}

private enum FuzzStores {
    static func check(_ subscription: StoreSubscription) throws {
        for moment in [
            subscription.firstPurchasedAt, subscription.graceUntil, subscription.paidUntil, subscription.expiresAt,
            subscription.cancellation?.at,
        ] {
            try FuzzFinding.check(moment)
        }
        FuzzLedger.apply(subscription.ledgerStatement)
    }
}
