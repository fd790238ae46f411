import Testing

@testable import CleengSimulator
@testable import SimulatorKit

@Suite struct BoundsTests {
    @Test func theOldestCustomersAreForgottenAndNothingElse() throws {
        let bench = Bench {
            $0.customerCapacity = 3
            $0.subscriptionCapacity = 3
        }
        for number in 1...5 { bench.pay("c\(number)+after-0@example.test", "\(number)") }
        #expect(try bench.control("GET", "/_simulator/stats")["customers"] == .int(3))
        #expect(try bench.entitlements("c5+after-0@example.test") == ["S123456789_US active"])
        #expect(try bench.entitlements("c3+after-0@example.test") == ["S123456789_US active"])
        #expect(bench.send("GET", "/3.1/customers/100000001").status == 404)
    }

    @Test func aTableForgetsItsOldestAndKeepsItsOrder() {
        var table = BoundedTable<String, Int>(capacity: 2)
        #expect(table.insert(1, for: "a") == nil)
        #expect(table.insert(2, for: "b") == nil)
        table["a"]? += 10
        table["z"] = 5
        #expect(table["z"] == nil)
        #expect(table.insert(3, for: "c")?.key == "a")
        #expect(table.inOrder.map(\.key) == ["b", "c"])
        #expect(table.insert(4, for: "d")?.value == 2)
        #expect(table.inOrder.map(\.value) == [3, 4])
    }

    @Test func grantsLeaveTheAgendaByTimeAndThenByArrival() throws {
        var agenda = Agenda<PendingGrant>()
        let email = try #require(EmailAddress("ana@example.test"))
        let offer = try #require(OfferId("S123456789_US"))
        let times: [Int64] = [9, 3, 7, 3, 1, 8, 3, 2]
        for (sequence, seconds) in times.enumerated() {
            agenda.add(
                PendingGrant(
                    sequence: sequence, grantAt: SimulatedTime(unixSeconds: seconds), originalTransactionId: "1",
                    email: email, offerId: offer, status: .active, expired: false, appType: "ios"))
        }
        var order: [Int] = []
        while let next = agenda.popDue(at: SimulatedTime(unixSeconds: 8)) { order.append(next.sequence) }
        #expect(order == [4, 7, 1, 3, 6, 2, 5])
        #expect(agenda.count == 1)
    }

    @Test func whatIsKeptOfABodyIsBounded() throws {
        let wide = AnyJSON.array(Array(repeating: .array(Array(repeating: .int(1), count: 100)), count: 100))
        let shown = BodyRedaction(receipt: nil, publisherToken: "t").shown(
            .object(["wide": wide, "long": .string(String(repeating: "x", count: 10_000))]))
        #expect(AnyJSON.bytes(of: shown).count < 2_000)
    }

    @Test(arguments: ["S123456789_US", "A987654321_DE", "P123456789"])
    func offerIdsAsCleengWritesThemAreTaken(text: String) {
        #expect(OfferId(text)?.text == text)
    }

    @Test(arguments: [
        "", "S023456789_US", "X123456789_US", "S12345678_US", "S123456789_us", "S123456789_USA", "s123456789",
    ])
    func otherOfferIdsAreNot(text: String) {
        #expect(OfferId(text) == nil)
    }

    @Test func emailsAreOneWhateverTheirCaseAndSurroundings() {
        #expect(EmailAddress(" Ana+X@Example.TEST\n")?.text == "ana+x@example.test")
        for bad in ["", "ana", "@x", "a@", "a b@x", "a@b@c", String(repeating: "a", count: 320) + "@x"] {
            #expect(EmailAddress(bad) == nil)
        }
    }

    @Test func timesAreReadAsTheyAreWritten() throws {
        let moment = SimulatedTime(microseconds: 1_800_000_000_123_000)
        #expect(moment.iso8601 == "2027-01-15T08:00:00.123Z")
        #expect(SimulatedTime(text: moment.iso8601) == moment)
        #expect(SimulatedTime(text: "2027-01-15T08:00:00Z")?.unixSeconds == 1_800_000_000)
        #expect(SimulatedTime(text: "1800000000123") == moment)
        #expect(SimulatedTime(moment.date) == moment)
        #expect(RetryAfterHeader.date(milliseconds: 0).header(at: moment.date) == "Fri, 15 Jan 2027 08:00:01 GMT")
    }
}
