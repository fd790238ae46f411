import NIOCore
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

/// When a list of entitlements counts as an answer: a `no` needs the whole list, a `yes` only the entitling item.
struct EntitlementListTests {
    private func list(_ pages: [String]) throws -> EntitlementList {
        var list = EntitlementList()
        for page in pages {
            #expect(list.hasNext)
            list.append(try #require(EntitlementPage(ByteBuffer(string: page))))
        }
        return list
    }

    private func reading(_ pages: [String], _ offer: OfferID = "S1_US") throws -> Result<Bool, CleengTrouble> {
        try list(pages).entitlement(to: offer).map(\.isEntitled)
    }

    private func page(_ numbers: Range<Int>, of total: Int?) -> String {
        let items = numbers.map { #"{"offerId":"S\#($0)_US","status":"active"}"# }.joined(separator: ",")
        return #"{"items":[\#(items)]"# + (total.map { #","totalItemCount":\#($0)"# } ?? "") + "}"
    }

    @Test(arguments: [
        #"{"items":[],"totalItemCount":0}"#, #"{"items":[]}"#, #"{"data":[],"success":true}"#,
        #"{"responseData":{"items":[]},"errors":[]}"#, #"{"items":[],"error":null,"errors":null}"#,
        #"{"items":[{"offerId":"S1_US","status":"terminated"}],"totalItemCount":1}"#,
        #"{"items":[{"offerId":"S1_US","status":"Terminated","expiresAt":4000000000}],"totalItemCount":"1"}"#,
        #"{"items":[{"offerId":"S2_US","status":"active"},{"offerId":"S1_DE","status":"active"}]}"#,
        #"{"items":[{"offerId":"S2_US","status":"paused"},{"offerId":"S3_US"},{"offerId":"S4_US","status":1}]}"#,
    ])
    func aWholeListWithoutTheOfferOrWithItsEndIsANo(json: String) throws {
        #expect(try reading([json]) == .success(false))
    }

    @Test(arguments: [
        "null", "7", #""S1_US""#, "[]", "{}", #"{"offer":"S1_US","status":"active"}"#,
        #"{"offerId":null,"status":"active"}"#, #"{"offerId":5,"status":"active"}"#,
        #"{"offerId":"","status":"active"}"#, #"{"offerId":{"id":"S1_US"},"status":"active"}"#,
    ])
    func anElementWithoutAnOfferMayBeTheOneAskedFor(element: String) throws {
        #expect(try reading([#"{"items":[\#(element)],"totalItemCount":1}"#]) == .failure(.unreadable))
        #expect(
            try reading([#"{"items":[{"offerId":"S1_US","status":"terminated"},\#(element)]}"#])
                == .failure(.unreadable))
        #expect(try reading([#"{"items":[{"offerId":"S1_US","status":"active"},\#(element)]}"#]) == .success(true))
    }

    @Test func anOfferLongerThanAnyIsNoOffer() throws {
        let long = String(repeating: "S", count: 201)
        let json = #"{"items":[{"offerId":"\#(long)","status":"active"}]}"#
        #expect(try reading([json], OfferID(String(long.dropLast()))) == .failure(.unreadable))
    }

    @Test(arguments: [
        "null", "1", "true", "[]", "{}", "\"\"", #""paused""#, #""active ""#, #""expired""#, #""of next year""#,
    ])
    func anUnknownStatusOfTheOfferIsNoAnswer(status: String) throws {
        let item = #"{"offerId":"S1_US","status":\#(status)}"#
        #expect(try reading([#"{"items":[\#(item)],"totalItemCount":1}"#]) == .failure(.unknownStatus))
        #expect(try reading([#"{"items":[\#(item)]}"#], "S1") == .failure(.unknownStatus))
        #expect(try reading([#"{"items":[\#(item)]}"#], "S2_US") == .success(false))
        let terminated = #"{"offerId":"S1_US","status":"terminated"}"#
        #expect(try reading([#"{"items":[\#(terminated),\#(item)]}"#]) == .failure(.unknownStatus))
        let cancelled = #"{"offerId":"S1_US","status":"cancelled","expiresAt":1}"#
        #expect(try reading([#"{"items":[\#(item),\#(cancelled)]}"#]) == .success(true))
    }

    @Test func aStatusThatIsNotThereIsNoAnswer() throws {
        #expect(try reading([#"{"items":[{"offerId":"S1_US","expiresAt":1}]}"#]) == .failure(.unknownStatus))
    }

    @Test(
        arguments: [
            (#""many""#, .unreadable), ("null", .unreadable), ("-1", .unreadable), ("0.5", .unreadable),
            ("{}", .unreadable), ("1e300", .unreadable), ("2", .incomplete), ("0", .incomplete), (#""7""#, .incomplete),
        ] as [(String, CleengTrouble)])
    func aTotalThatIsNoCountOrAnotherLeavesTheListOpen(total: String, trouble: CleengTrouble) throws {
        let other = #"{"items":[{"offerId":"S2_US","status":"active"}],"totalItemCount":\#(total)}"#
        #expect(try reading([other]) == .failure(trouble))
        #expect(try reading([other], "S2_US") == .success(true))
    }

    @Test(arguments: [
        #"{"success":false,"data":[],"message":"try later"}"#, #"{"success":null,"data":[]}"#,
        #"{"items":[],"error":{"code":5}}"#, #"{"items":[],"error":"denied"}"#, #"{"items":[],"error":false}"#,
        #"{"responseData":{"items":[]},"errors":["denied"]}"#, #"{"items":[],"errors":"denied"}"#,
    ])
    func aListBesideAnErrorIsNoAnswer(json: String) throws {
        #expect(try reading([json]) == .failure(.unreadable))
    }

    @Test(arguments: [
        #"{"items":{"0":{"offerId":"S1_US","status":"active"}},"data":[]}"#, #"{"items":null,"data":[]}"#,
        #"{"data":null,"responseData":{"items":[]}}"#,
    ])
    func aSecondListDoesNotReplaceOneThatCannotBeRead(json: String) {
        #expect(EntitlementPage(ByteBuffer(string: json)) == nil)
    }

    @Test func allPagesMakeTheList() throws {
        let pages = [page(0..<100, of: 250), page(100..<200, of: 250), page(200..<250, of: 250)]
        #expect(try reading(pages, "S249_US") == .success(true))
        #expect(try reading(pages, "S250_US") == .success(false))
        #expect(try list(pages).hasNext == false)
        #expect(try list(Array(pages.prefix(2))).elementCount == 200)
        #expect(try reading(Array(pages.prefix(2)), "S250_US") == .failure(.incomplete))
        #expect(try reading(Array(pages.prefix(2)), "S150_US") == .success(true))
        #expect(try reading([], "S1_US") == .failure(.incomplete))
    }

    @Test func anEmptyPageOfSeveralEndsTheReadButNotTheList() throws {
        let pages = [page(0..<100, of: 250), page(0..<0, of: 250)]
        #expect(try list(pages).hasNext == false)
        #expect(try reading(pages, "S249_US") == .failure(.incomplete))
        #expect(try reading(pages, "S99_US") == .success(true))
    }

    @Test func withoutATotalTheFirstPageThatIsNotFullIsTheLast() throws {
        let full = page(0..<100, of: nil)
        #expect(try list([full]).hasNext)
        #expect(try reading([full], "S100_US") == .failure(.incomplete))
        for last in [page(0..<0, of: nil), page(100..<101, of: nil)] {
            #expect(try list([full, last]).hasNext == false)
            #expect(try reading([full, last], "S101_US") == .success(false))
        }
    }

    @Test func aListThatChangedBetweenTwoPagesMayHaveLostAnElement() throws {
        let pages = [page(0..<100, of: 150), page(101..<150, of: 149)]
        #expect(try reading(pages, "S100_US") == .failure(.unreadable))
        #expect(try reading(pages, "S149_US") == .success(true))
    }

    @Test func aListIsCutAfterTenPages() throws {
        func pages(of total: Int) -> [String] {
            (0..<10).map { page($0 * 100..<$0 * 100 + 100, of: total) }
        }
        #expect(try list(pages(of: 1001)).hasNext == false)
        #expect(try reading(pages(of: 1001), "S1000_US") == .failure(.incomplete))
        #expect(try reading(pages(of: 1001), "S999_US") == .success(true))
        #expect(try reading(pages(of: 1000), "S1000_US") == .success(false))
    }

    @Test func anOfferIsKnownBesideOneThatIsNot() throws {
        let list = try list([#"{"items":[{"offerId":"S1_US","status":"active"},null]}"#])
        let trouble = EntitlementReply.Verdict.tryAgain(.unreadable, retryAfter: nil)
        let reply = EntitlementReply(["S2_US", "S1_US"], status: 200, read: list.entitlement(to:))
        #expect(reply.verdict == trouble)
        #expect(reply.verdict(of: "S2_US") == trouble)
        let known = try list.entitlement(to: "S1_US").get()
        #expect(reply.verdict(of: "S1_US") == .read(["S1_US": known]))
        let alone = EntitlementReply(["S1_US"], status: 200, read: list.entitlement(to:))
        #expect(alone.verdict == .read(["S1_US": known]))
        let failed = EntitlementReply.Verdict.tryAgain(.throttled, retryAfter: .seconds(3))
        let later = EntitlementReply(["S1_US", "S2_US"], status: 429, otherwise: failed, read: list.entitlement(to:))
        #expect(later.verdict == failed)
        #expect(later.verdict(of: "S2_US") == failed)
        #expect(later.verdict(of: "S1_US") == .read(["S1_US": known]))
    }
}
