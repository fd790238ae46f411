import RelayCore
import Testing

@testable import Billing

@Suite("An order names one customer and one subscription")
struct OrderTermsTests {
    private static let id = BillingID("66aa00000000000000000001")

    private func terms(
        _ customerID: BillingID? = nil, _ customer: String? = nil, _ contractID: BillingID? = nil,
        _ subscription: BillingID? = nil, _ cart: String? = nil
    ) throws -> OrderTerms<String, String> {
        try OrderTerms(
            customerID: customerID, customer: customer, contractID: contractID, externalSubscriptionID: subscription,
            cart: cart)
    }

    @Test("every single alternative is accepted")
    func alternatives() throws {
        let id = try #require(Self.id)
        if case .customer(let found) = try terms(id, nil, nil, id).party {
            #expect(found == id)
        } else {
            Issue.record()
        }
        if case .newCustomer("a") = try terms(nil, "a", nil, id).party {} else { Issue.record() }
        if case .contract(let found) = try terms(nil, nil, id, id).party {
            #expect(found == id)
        } else {
            Issue.record()
        }
        if case .cart("c") = try terms(id, nil, nil, nil, "c").subject {} else { Issue.record() }
    }

    @Test("none and several are refused, each with its own error")
    func noneOrSeveral() throws {
        let id = try #require(Self.id)
        #expect(throws: OrderTermsError.noParty) { try terms(nil, nil, nil, id) }
        #expect(throws: OrderTermsError.severalParties) { try terms(id, "a", nil, id) }
        #expect(throws: OrderTermsError.severalParties) { try terms(id, nil, id, id) }
        #expect(throws: OrderTermsError.severalParties) { try terms(nil, "a", id, id) }
        #expect(throws: OrderTermsError.noSubject) { try terms(id) }
        #expect(throws: OrderTermsError.severalSubjects) { try terms(id, nil, nil, id, "c") }
        #expect(Set(OrderTermsError.allCases.map(\.description)).count == OrderTermsError.allCases.count)
    }

    @Test("the first commit completes, its repeat has the same result, all others conflict")
    func verdicts() throws {
        let id = try #require(Self.id)
        #expect(CommitVerdict(.inProgress, subscriptionIsOf: nil) == .completes)
        #expect(CommitVerdict(.completed, subscriptionIsOf: id) == .repeats)
        #expect(CommitVerdict(.inProgress, subscriptionIsOf: id) == .conflicts)
    }
}

@Suite("Ids of billing")
struct BillingIDTests {
    @Test("are of 24 hexadecimal digits, sort by the second in which they were made, and end with their bucket")
    func form() throws {
        var generator = SystemRandomNumberGenerator()
        let early = BillingID(at: Timestamp(seconds: 1_700_000_000), using: &generator)
        let late = BillingID(at: Timestamp(seconds: 1_700_000_001), using: &generator)
        #expect(early.description.wholeMatch(of: /[0-9a-f]{24}/) != nil)
        #expect(early < late && early.description.hasPrefix("6553f100"))
        let id = try #require(BillingID("66AA000000000000000000fE"))
        #expect(id.description == "66aa000000000000000000fe" && id.bucket.number == 0xfe)
        #expect(BillingID(digest: [1, 2]).description == "010200000000000000000000")
    }

    @Test(arguments: ["", "66aa", "66aa0000000000000000000g", "66aa000000000000000000011", "66aa 0000000000000000001"])
    func areNothingElse(text: String) {
        #expect(BillingID(text) == nil)
    }

    @Test("dates have seven decimals")
    func dates() {
        #expect(Timestamp(microseconds: 1_400_765_610_951_000).sevenDecimals == "2014-05-22T13:33:30.9510000Z")
        #expect(Timestamp(seconds: 0).sevenDecimals == "1970-01-01T00:00:00.0000000Z")
        #expect(Timestamp(microseconds: -1).sevenDecimals == "1969-12-31T23:59:59.9999990Z")
        #expect(Timestamp.earliest.sevenDecimals == "0000-01-01T00:00:00.0000000Z")
        #expect(Timestamp(microseconds: .max).sevenDecimals == "9999-12-31T23:59:59.9999990Z")
    }
}
