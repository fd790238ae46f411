import NIOCore
import RelayCore

@testable import Billing
@testable import Console
@testable import HTTPServer
@testable import PurchasesAPI
@testable import Relay

extension FuzzTarget {
    /// Query strings and paths, and the values in them.
    static let queries = FuzzTarget(
        "queries",
        seeds: texts([
            "customerEmail=ana%40example.test&offerId=S1_US&limit=50&olderThanSeconds=60&cursor=1767323045000000-0123456789abcdef0123456789abcdef012345&status=granted",
            "appName=main&apiKey=k%00&access_token=x&take=10&skip=5&from=000000000000000000000000&limit=-9223372036854775808",
            "/v2/customers/ana%40example.test/purchases",
            "/API/v1/Orders/000000000000000000000000/Commit?take=99999999999999999999",
            "6d61696e0a50726f64756374696f6e0a31", "1767323045000000-0e2a3b9c-0000-4000-8000-000000000000",
        ])
    ) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let items = QueryItems(text)
        _ = NamedCredentials(authorization: nil, query: items)
        var page = PageQuery(items)
        _ = page.limit()
        _ = page.number("olderThanSeconds", in: 0...315_360_000)
        _ = page.cursor { ValidationCursor($0)?.description }
        _ = page.cursor { AuditCursor($0)?.description }
        _ = page.cursor { SubscriptionCursor($0)?.description }
        _ = (page.customer(), page.offerID(), page.originalTransactionID())
        try? page.end()
        _ = items.all("applicationUsername", most: 100)
        _ = (
            CustomerPath(text), CustomerPath.plainName(text), FoldedPaths(["/api/v1", "/oauth/token"]).fold(text),
            ResyncTarget(text)?.id
        )
        _ = (ValidationID(text), BillingID(text)?.madeAt, EndpointID(text), ValidationCursor(text), AuditCursor(text))
        _ = AllowedMethods([]).allow(text)
        try FuzzFinding.check(Timestamp(rfc3339: text))
        try FuzzFinding.check(Timestamp(external: text))
    }

    /// Bodies of requests: JSON of every route, and forms.
    static let bodies = FuzzTarget(
        "bodies",
        seeds: texts([
            #"{"customerEmail":"ana@example.test","offerId":"S1_US","receipt":{"transactionId":"1","receiptData":"MIIC"},"appType":"ios","ipAddress":"::1","couponCode":"c","applicationUsername":"u","cleengCustomerId":7.0}"#,
            #"{"customerEmail":"ana@example.test","offerId":"S1_US","receipt":{"productId":"p","purchaseToken":"t","packageName":"a.b","purchaseState":0,"purchaseTime":1767323045000,"receiptId":"r","userId":"u"}}"#,
            #"{"id":"p","transaction":{"type":"android-playstore","id":"1","purchaseToken":"t","receipt":"{\"productId\":\"p\"}"},"additionalData":{"applicationUsername":7}}"#,
            #"{"Type":"AppleIap","AppleIapReceipt":"MIIC","customerid":"000000000000000000000000","ExternalCart":{"Type":"GoogleIap","GoogleIapPackageName":"a"},"Customer":{"FirstName":"A","CustomFields":{"a":{"b":[1]}}}}"#,
            #"{"reason":"r","parked":true,"status":"rejected","from":"2026-01-01","to":"2026-02-01T00:00:00Z","limit":100.0,"cursor":"c","dryRun":false}"#,
            #"{"customerEmail":"ana@example.test","offerId":"S1_US","order":{"purchaseId":"o","code":"gold","amount":"$9.99","qty":1,"total":10.5}}"#,
            #"{"customerConsented":true,"sampleContentProvided":false,"consumptionPercentage":50000,"refundPreference":"DECLINE","userStatus":null}"#,
            "grant_type=client_credentials&client_id=main&client_secret=k%00%ff+x",
        ])
    ) { bytes in
        let body = ByteBuffer(bytes: bytes)
        for platform in StorePlatform.allCases {
            let request = try? PurchaseRequest(body, of: platform, readsNumber: true)
            if case .apple(let sent)? = request?.proof {
                _ = ReadReceipt(sent.receiptData, transactionID: sent.transactionID)
            }
        }
        _ = try? ValidateRequest(body, app: "com.example.app")
        _ = try? CheckRequest(body, mostReceiptBytes: 65_536)
        _ = try? OrderRequest(body)
        _ = try? CustomerDetails(body)
        if let replay = try? ReplayBody(body) {
            try FuzzFinding.check(replay.filter.from)
            try FuzzFinding.check(replay.filter.to)
        }
        _ = try? ConsumptionFacts(body: body)
        _ = try? OperatorReason.parse(body)
        _ = (try? FormBody(body))?["client_id"]
        for store in StorePlatform.allCases { _ = NotificationContent(bytes, of: store.rawValue) }
    }
}
