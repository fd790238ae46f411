import RelayCore
import Testing

/// The answers to Apple, by its rules for version 2.
@Suite struct ConsumptionAnswerTests {
    private func json(
        _ facts: ConsumptionFacts, _ delivery: ConsumptionAnswer.Delivery = .delivered, renews: Bool = false
    ) -> String? {
        ConsumptionAnswer(facts, delivery, renews: renews)?.json
    }

    @Test func withoutConsentThereIsNone() {
        #expect(json(ConsumptionFacts(customerConsented: false, refundPreference: .decline)) == nil)
    }

    @Test func aConsumableHasItsUsedPart() {
        let facts = ConsumptionFacts(
            customerConsented: true, sampleContentProvided: true, consumptionPercentage: 67_932,
            refundPreference: .grantProrated, userStatus: .active)
        #expect(
            json(facts)
                == #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED","consumptionPercentage":67932,"refundPreference":"GRANT_PRORATED"}"#
        )
    }

    @Test func aSubscriptionHasNoUsedPart() {
        let facts = ConsumptionFacts(
            customerConsented: true, consumptionPercentage: 50_000, refundPreference: .grantProrated)
        #expect(
            json(facts, renews: true)
                == #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","refundPreference":"GRANT_PRORATED"}"#
        )
    }

    @Test func anUndeliveredPurchaseWasNotUsed() {
        let facts = ConsumptionFacts(
            customerConsented: true, consumptionPercentage: 50_000, refundPreference: .grantFull)
        #expect(
            json(facts, .serverOutage)
                == #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"UNDELIVERED_SERVER_OUTAGE","consumptionPercentage":0,"refundPreference":"GRANT_FULL"}"#
        )
    }

    @Test(arguments: [nil, 0, 100_000]) func aProratedRefundNeedsAPartialConsumption(percentage: Int?) {
        let facts = ConsumptionFacts(
            customerConsented: true, consumptionPercentage: percentage, refundPreference: .grantProrated)
        #expect(json(facts)?.contains("refundPreference") == false)
        #expect(facts.isConsistent == (percentage == nil))
        let undelivered = ConsumptionFacts(
            customerConsented: true, consumptionPercentage: 1, refundPreference: .grantProrated)
        #expect(json(undelivered, .other)?.contains("refundPreference") == false)
    }
}
