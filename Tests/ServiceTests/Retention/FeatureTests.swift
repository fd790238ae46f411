import Testing

@testable import ReceiptRelay
@testable import Relay

@Suite("The features of this build")
struct FeatureTests {
    /// A table that is left out of a policy would not be sealed, exported or erased.
    @Test("have their tables sealed, searched and cleared")
    func tables() {
        let tables = Features.stored.map(\.tables)
        #expect(tables.flatMap(\.sealed).map(\.table) == ["cleeng_events", "billing_customers"])
        #expect(tables.flatMap(\.mentions).map(\.member) == ["events", "notifications", "billingCustomers"])
        #expect(tables.flatMap(\.leftovers).map(\.table) == ["orders", "external_subscriptions"])
        #expect(Features.stored.compactMap(\.participant).count == 1)
    }
}
