import Testing

@testable import CleengSimulator

/// The Google Play connector, where it differs from StoreKit 2.
@Suite struct GoogleConnectorTests {
    private let ana = "ana@example.test"
    private let ben = "ben@example.test"

    @Test func aPurchaseIsRegisteredAndFinalized() throws {
        let bench = Bench()
        let started = bench.registerToken(for: try bench.number(of: ana))
        #expect(started.status == 202)
        #expect(bench.state(started, of: .google) == "processing")
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started, of: .google) == "PURCHASE_REGISTERED true S123456789_US")
        #expect(try bench.entitlements(ana) == ["S123456789_US active"])
        // It is none of StoreKit 2's.
        #expect(bench.state(started) == "no status")
        #expect(try bench.control("GET", "/_simulator/stats")["registrations"] == .int(1))
    }

    /// Running or done, and whoever sends it.
    @Test func aRepeatNamesTheFirstOne() throws {
        let bench = Bench()
        let number = try bench.number(of: ana)
        let started = bench.registerToken(for: number)
        let running = bench.registerToken(for: number)
        bench.time.advance(milliseconds: 1_000)
        let done = bench.registerToken(for: try bench.number(of: ben))
        for again in [running, done] {
            #expect(again.status == 409 && again.json?["code"] == .string("GPBC0101"))
            #expect(again.json?["synchronizationId"] == started.json?["synchronizationId"])
        }
        #expect(try bench.entitlements(ben) == [])
    }

    @Test func aRepeatCanBeAnsweredWithWhatCameOfTheFirst() throws {
        let bench = Bench()
        let started = bench.registerToken(for: try bench.number(of: ana))
        let again = "ben+google-idempotent@example.test"
        let running = bench.registerToken(for: try bench.number(of: again))
        #expect(running.status == 200 && running.json?["status"] == .string("processing"))
        bench.time.advance(milliseconds: 1_000)
        let done = bench.registerToken(for: try bench.number(of: again))
        #expect(done.status == 200 && done.json?["accessGranted"] == .bool(true))
        #expect(done.json?["synchronizationId"] == started.json?["synchronizationId"])
    }

    @Test func aTransferMovesItAndIsLockedMeanwhile() throws {
        let bench = Bench()
        let first = bench.registerToken(for: try bench.number(of: ana))
        let number = try bench.number(of: ben)
        let locked = bench.moveToken(to: number)
        #expect(locked.status == 409 && locked.json?["code"] == .string("GPBC0103"))
        #expect(locked.json?["synchronizationId"] == first.json?["synchronizationId"])
        bench.time.advance(milliseconds: 1_000)
        let started = bench.moveToken(to: number)
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started, of: .google) == "PURCHASE_OWNERSHIP_TRANSFERRED true S123456789_US")
        #expect(try bench.entitlements(ana) == ["S123456789_US terminated"])
        #expect(try bench.entitlements(ben) == ["S123456789_US active"])
    }

    /// What came by `/android/payment` is the same subscription.
    @Test func itKnowsWhatCameByTheOtherRoad() throws {
        let bench = Bench()
        let receipt = #"{"productId":"gold","purchaseToken":"t-1","packageName":"tv.app"}"#
        let body = #"{"customerEmail":"\#(ana)","offerId":"S123456789_US","receipt":\#(receipt)}"#
        #expect(bench.send("POST", "/android/payment", body: body).status == 200)
        bench.time.advance(milliseconds: 1_000)
        let started = bench.registerToken(for: try bench.number(of: ben))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started, of: .google) == "PURCHASE_OWNERSHIP_UNCHANGED false S123456789_US")
    }

    @Test(arguments: [
        ("one_time_product", "t-1", 400), ("", "t-1", 400), ("subscription", "", 400), ("subscription", "a b", 400),
    ])
    func onlySubscriptionsAreTaken(type: String, token: String, status: Int) throws {
        let bench = Bench()
        let body = Bench.tokenPurchase(token, try bench.number(of: ana), type: type)
        let refused = bench.send("POST", Bench.googlePurchases, body: body)
        #expect(refused.status == status && refused.json?["code"] == .string("REQ0001"))
    }

    @Test(arguments: [
        ("google-unknown", "PURCHASE_TOKEN_NOT_FOUND false S123456789_US"),
        ("google-expired", "RECEIVED_EXPIRED_PURCHASE false S123456789_US"),
        ("storekit2-expired", "PURCHASE_REGISTERED true S123456789_US"),
    ])
    func itHasBehavioursOfItsOwn(tag: String, state: String) throws {
        let bench = Bench()
        let started = bench.registerToken(for: try bench.number(of: "ana+\(tag)@example.test"))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started, of: .google) == state)
    }

    @Test func itCanBeInactiveForEverybody() throws {
        let bench = Bench()
        let number = try bench.number(of: ana)
        try bench.control("PUT", "/_simulator/upstream", #"{"behaviours":["google-inactive"]}"#)
        #expect(Bench.code(bench.registerToken(for: number)).hasSuffix("GPBC0004"))
        #expect(bench.register(for: number).status == 202)
    }

    @Test func itMayNameThemItself() throws {
        let bench = Bench()
        let id = "6f1c1f0e-0000-4000-8000-000000000001"
        let number = try bench.number(of: ana)
        #expect(bench.registerToken(for: number, correlationId: id).json?["synchronizationId"] == .string(id))
        let other = try bench.number(of: "ben+google-renaming@example.test")
        let renamed = bench.registerToken("t-2", for: other, correlationId: "6f1c1f0e-0000-4000-8000-000000000002")
        #expect(renamed.json?["synchronizationId"] == .string("00000000-0000-4000-8000-000000000001"))
    }

    /// Its end says that there is access, and reads show none yet.
    @Test func theEntitlementMayFollowTheEnd() throws {
        let bench = Bench()
        let eve = "eve+google-lagging-2s@example.test"
        let started = bench.registerToken(for: try bench.number(of: eve))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started, of: .google) == "PURCHASE_REGISTERED true S123456789_US")
        bench.time.advance(milliseconds: 1_999)
        #expect(try bench.entitlements(eve) == [])
        bench.time.advance(milliseconds: 1)
        #expect(try bench.entitlements(eve) == ["S123456789_US active"])
    }

    @Test func itsEventNamesTheToken() throws {
        let bench = try Bench.telling()
        bench.registerToken(
            for: try bench.number(of: ana), correlationId: "6f1c1f0e-0000-4000-8000-000000000001")
        bench.time.advance(milliseconds: 1_000)
        #expect(
            bench.events().first.map { String(decoding: $0.body, as: UTF8.self) }
                == #"{"broadcasterId":123456789,"data":{"accessGranted":true,"cleengCustomerId":100000001,"#
                + #""offerId":"S123456789_US","packageName":"tv.app","purchaseToken":"t-1","#
                + #""result":"PURCHASE_REGISTERED","synchronizationId":"6f1c1f0e-0000-4000-8000-000000000001"},"#
                + #""topic":"inappPurchaseSyncResult"}"#)
    }

    @Test func aTokenHasAnOfferAndAnEnd() throws {
        let bench = Bench()
        let told = try bench.control("PUT", "/_simulator/tokens/t-1", #"{"offerId":"S598742062_US","expiresAt":5}"#)
        #expect(told["offerId"] == .string("S598742062_US") && told["expiresAt"] == .int(5))
        let started = bench.registerToken(for: try bench.number(of: ana))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started, of: .google) == "RECEIVED_EXPIRED_PURCHASE false S598742062_US")
    }
}
