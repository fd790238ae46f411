import RelayCore
import Testing

@testable import Billing

@Suite("Contract events of a subscription's changes")
struct BillingEventTests {
    private static let end = Timestamp(seconds: 1_800_000_000)

    private func picture(
        _ status: SubscriptionState.Status?, until end: Timestamp? = end, renews: Bool? = true,
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
            #expect(BillingEvent.events(from: active, to: after) == [.contractChanged])
        }
        #expect(
            BillingEvent.events(from: picture(.inBillingRetry), to: picture(.active, until: later)) == [
                .contractChanged
            ])
        #expect(BillingEvent.events(from: picture(.revoked), to: active) == [.contractChanged])
        #expect(BillingEvent.events(from: picture(.active, renews: false), to: active) == [.contractChanged])
    }

    @Test("turning renewal off is a cancellation, once")
    func cancellation() {
        let off = picture(.active, renews: false)
        #expect(BillingEvent.events(from: picture(.active), to: off) == [.contractCancelled])
        #expect(BillingEvent.events(from: picture(.active, renews: nil), to: off) == [.contractCancelled])
        #expect(BillingEvent.events(from: off, to: off).isEmpty)
        #expect(BillingEvent.events(from: picture(.expired), to: picture(.expired, renews: false)).isEmpty)
    }

    @Test("a renewal, a recovery or another product that turns renewal off is a change and a cancellation")
    func both() {
        for (before, after) in [
            (picture(.active), picture(.active, until: Self.end + .seconds(86_400), renews: false)),
            (picture(.active), picture(.active, renews: false, "q")),
            (picture(.inBillingRetry), picture(.active, renews: false)),
        ] {
            #expect(BillingEvent.events(from: before, to: after) == [.contractChanged, .contractCancelled])
        }
    }

    @Test("no event for the same state, for grace, and for a first statement")
    func silence() {
        #expect(BillingEvent.events(from: picture(.active), to: picture(.active)).isEmpty)
        // A receipt states the same end without milliseconds.
        let exact = Self.end + .milliseconds(999)
        #expect(BillingEvent.events(from: picture(.active), to: picture(.active, until: exact)).isEmpty)
        #expect(BillingEvent.events(from: picture(.active), to: picture(.inGrace)).isEmpty)
        #expect(BillingEvent.events(from: picture(nil), to: picture(.active)).isEmpty)
        #expect(BillingEvent.events(from: picture(.active, renews: nil), to: picture(.active)).isEmpty)
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
