import RelayCore
import Testing

@Suite("Contract events of a subscription's changes")
struct BillingEventTests {
    private static let end = Timestamp(seconds: 1_800_000_000)

    private func picture(
        _ status: SubscriptionStanding.Status?, until end: Timestamp? = end, renews: Bool? = true,
        _ product: String = "p"
    ) -> BillingEvent.Picture {
        BillingEvent.Picture(status: status, expiresAt: end, willRenew: renews, productID: ProductID(product))
    }

    @Test("renewed, expired, refunded, recovered and changed are changes")
    func changes() {
        let active = picture(.active)
        let later = Self.end + .seconds(86_400)
        for after in [
            picture(.active, until: later), picture(.expired), picture(.revoked), picture(.active, "q"),
            picture(.inBillingRetry), picture(.expired, renews: false),
        ] {
            #expect(BillingEvent(from: active, to: after) == .contractChanged)
        }
        #expect(BillingEvent(from: picture(.inBillingRetry), to: picture(.active, until: later)) == .contractChanged)
        #expect(BillingEvent(from: picture(.revoked), to: active) == .contractChanged)
        #expect(BillingEvent(from: picture(.active, renews: false), to: active) == .contractChanged)
    }

    @Test("turning renewal off is a cancellation, once")
    func cancellation() {
        let off = picture(.active, renews: false)
        #expect(BillingEvent(from: picture(.active), to: off) == .contractCancelled)
        #expect(BillingEvent(from: picture(.active, renews: nil), to: off) == .contractCancelled)
        #expect(BillingEvent(from: off, to: off) == nil)
        #expect(BillingEvent(from: picture(.expired), to: picture(.expired, renews: false)) == nil)
    }

    @Test("no event for the same state, for grace, and for a first statement")
    func silence() {
        #expect(BillingEvent(from: picture(.active), to: picture(.active)) == nil)
        // A receipt states the same end without milliseconds.
        let exact = Self.end + .milliseconds(999)
        #expect(BillingEvent(from: picture(.active), to: picture(.active, until: exact)) == nil)
        #expect(BillingEvent(from: picture(.active), to: picture(.inGrace)) == nil)
        #expect(BillingEvent(from: picture(nil), to: picture(.active)) == nil)
        #expect(BillingEvent(from: picture(.active, renews: nil), to: picture(.active)) == nil)
    }

    @Test("bodies contain the event and ids, and nothing else")
    func bodies() {
        #expect(
            BillingEvent.orderSucceeded.body(contract: "c", customer: "k", order: "o")
                == #"{"Event":"OrderSucceeded","OrderId":"o","ContractId":"c","CustomerId":"k","EntityId":"o"}"#)
        #expect(
            BillingEvent.contractChanged.body(contract: "c", customer: "k")
                == #"{"Event":"ContractChanged","ContractId":"c","CustomerId":"k","EntityId":"c"}"#)
        #expect(BillingEvent(name: "contractCREATED") == .contractCreated && BillingEvent(name: "X") == nil)
    }
}
