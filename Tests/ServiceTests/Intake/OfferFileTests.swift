import Relay
import RelayCore
import Testing

@testable import ReceiptRelay

/// The file of `receipt-relay offers import`.
@Suite struct OfferFileTests {
    @Test func valuesAreReadAsText() throws {
        let file = try OfferFile(
            """
            offers:
              - offerId: S1_US
                name: 1:0:0:0:0:0:0:0:0:0:0
                products: [com.example.month, "google:month", 2026]
                coupons: [{code: SUMMER, campaign: Summer 2026}, 9223372036854775807:00]
              - {"offerId": "S2_US"}
            """)
        #expect(file.offers.map(\.id) == ["S1_US", "S2_US"])
        #expect(file.offers[0].name == "1:0:0:0:0:0:0:0:0:0:0")
        #expect(file.offers[0].products == ["apple:com.example.month", "google:month", "apple:2026"])
        #expect(file.offers[0].coupons.map(\.code) == ["SUMMER", "9223372036854775807:00"])
        #expect(file.offers[0].coupons.map(\.campaign) == ["Summer 2026", ""])
    }

    /// Yams crashes on each of these, or reads it as something that is not an offer.
    @Test(
        arguments: [
            "{a: 1}: x", "[a]: b", "offers: [{[a]: b, offerId: S1}]", "offers: [{offerId: {{ offer }}}]", "offers: 1",
            "offers: [[]]", "offers: [{offerId: S1, products: a}]", "offers: [{offerId: S1, coupons: [[a]]}]",
            "offers: [{offerId: S1, more: 1}]", "offers: [{offerId: S1}, {offerId: S1}]", "", "\u{0}", "a: *b",
        ])
    func aMalformedFileIsRefused(text: String) {
        #expect(throws: OfferFile.Malformed.self) { try OfferFile(text) }
    }
}
