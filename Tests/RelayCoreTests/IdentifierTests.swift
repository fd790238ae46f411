import Foundation
import RelayCore
import Testing

@Suite struct IdentifierTests {
    private static let alike = [
        ("K", "\u{212A}"), ("\u{E9}", "e\u{301}"), ("\u{C5}", "\u{212B}"), ("\u{3A9}", "\u{2126}"),
    ]

    @Test("texts that are equal as Swift strings are two names", arguments: alike)
    func bytesCount(one: String, other: String) {
        #expect(one == other)
        #expect(OfferID(one) != OfferID(other))
        #expect(Set([TransactionID(one), TransactionID(other)]).count == 2)
        #expect((PublisherID(one) < PublisherID(other)) != (PublisherID(other) < PublisherID(one)))
        #expect(OfferID(one) == OfferID(String(decoding: Array(one.utf8), as: UTF8.self)))
    }

    @Test("the order is that of the bytes") func order() {
        let texts = ["\u{212A}", "K", "", "k", "\u{1F600}", "é"].map { Username($0) }
        let sorted = texts.sorted().map { Array($0.utf8) }
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }

    @Test("as JSON it is a text, also as the key of an object") func json() throws {
        let names: [ProductID: [OfferID]] = ["month": ["S1_US", "S2_US"]]
        let data = try JSONEncoder().encode(names)
        #expect(String(decoding: data, as: UTF8.self) == #"{"month":["S1_US","S2_US"]}"#)
        #expect(try JSONDecoder().decode([ProductID: [OfferID]].self, from: data) == names)
    }

    @Test("emails that differ in letters outside ASCII are two customers") func emails() {
        #expect(CustomerEmail("ANA@B.test")?.customer == "ana@b.test")
        #expect(CustomerEmail("\u{212A}im@b.test")?.customer != CustomerEmail("kim@b.test")?.customer)
        #expect(CustomerEmail("REN\u{C9}@b.test")?.customer != CustomerEmail("ren\u{E9}@b.test")?.customer)
    }

    @Test("a prefix ends where its bytes end") func prefixes() {
        let key = TransactionID("google:\u{301}token")
        #expect(StorePlatform(subscriptionKey: key) == .google)
        #expect(StorePlatform.google.name(ofKey: key) == "\u{301}token")
    }

    /// A client that has the whole token can claim the purchase.
    @Test("a key of another store than Apple's is logged by its end")
    func loggable() {
        #expect(TransactionID("2000000123456789").loggable == "2000000123456789")
        #expect(TransactionID("google:" + String(repeating: "t", count: 140) + "4f9a2c").loggable == "google:…4f9a2c")
        #expect(TransactionID("amazon:abc").loggable == "amazon:…bc")
        #expect(TransactionID("google:1").loggable == "google:…:1")
    }
}
