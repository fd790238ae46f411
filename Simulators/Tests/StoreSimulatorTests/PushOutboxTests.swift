import Foundation
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

@Suite struct PushOutboxTests {
    private func publish(_ bench: GoogleBench, _ count: Int) throws {
        for number in 0..<count {
            let notification = #"{"voidedPurchaseNotification":{"purchaseToken":"t\#(number)"}}"#
            try bench.control("POST", "notifications", #"{"notification":\#(notification)}"#)
        }
    }

    /// Ends an attempt.
    /// - Returns: the pause before the next one.
    @discardableResult
    private func end(_ attempt: SimulatedPubSub.Attempt, _ status: Int?, in bench: GoogleBench) -> Duration? {
        guard let next = bench.end(attempt, status) else { return nil }
        bench.retry(next.delivery)
        return next.pause
    }

    /// Sends everything that may be sent, one attempt after the other, and acknowledges it.
    private func drain(_ bench: GoogleBench) -> [String] {
        var ids: [String] = []
        while let attempt = bench.nextAttempt() {
            ids.append(attempt.delivery.message.id)
            end(attempt, 204, in: bench)
        }
        return ids
    }

    @Test func whatIsNotAcknowledgedIsTriedAgainWithGrowingPausesUntilItIsGivenUp() throws {
        let bench = try GoogleBench.pushing()
        try publish(bench, 1)
        var pauses: [Duration] = []
        for _ in 0..<199 {
            let attempt = try #require(bench.attempts().first)
            pauses.append(try #require(end(attempt, pauses.count.isMultiple(of: 2) ? 500 : nil, in: bench)))
        }
        #expect(
            Array(pauses.prefix(9))
                == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000].map(Duration.milliseconds))
        #expect(pauses.allSatisfy { $0 <= .seconds(10) })
        let last = try #require(bench.attempts().first)
        #expect(end(last, 403, in: bench) == nil)
        #expect(bench.attempts().isEmpty)
        let entry = try #require(try bench.messages().first)
        #expect(entry["tries"] as? Int == 200 && entry["delivered"] as? Bool == false)
        #expect(entry["lastStatus"] as? Int == 403)
    }

    @Test(arguments: [(102, true), (200, true), (201, true), (202, true), (203, false), (204, true), (302, false)])
    func theseStatusesAcknowledge(status: Int, acknowledges: Bool) throws {
        let bench = try GoogleBench.pushing()
        try publish(bench, 1)
        #expect((end(try #require(bench.attempts().first), status, in: bench) == nil) == acknowledges)
        #expect(try bench.messages().first?["delivered"] as? Bool == acknowledges)
    }

    @Test func noMoreThanSixtyFourAreUnderWay() throws {
        let bench = try GoogleBench.pushing()
        try publish(bench, 70)
        let first = bench.attempts()
        #expect(first.count == 64)
        end(first[0], 500, in: bench)
        #expect(bench.attempts().map { $0.delivery.message.id } == [try id(64, bench)], "what failed waits its turn")
    }

    private func id(_ index: Int, _ bench: GoogleBench) throws -> String {
        try #require(try bench.messages()[index]["messageId"] as? String)
    }

    @Test func duplicatesHaveOneIdAndAreDeliveredOnceAllOfThemAre() throws {
        let bench = try GoogleBench.pushing()
        try bench.control("PUT", "delivery", #"{"duplicate":2}"#)
        try publish(bench, 1)
        let attempts = bench.attempts()
        #expect(attempts.map { $0.delivery.message.id } == Array(repeating: try id(0, bench), count: 3))
        for (index, attempt) in attempts.enumerated() {
            #expect(try bench.messages().first?["delivered"] as? Bool == false)
            end(attempt, 200, in: bench)
            #expect(try bench.messages().first?["tries"] as? Int == index + 1)
        }
        #expect(try bench.messages().first?["delivered"] as? Bool == true)
        try bench.control("DELETE", "delivery")
        try publish(bench, 1)
        #expect(bench.attempts().count == 1)
    }

    @Test func lostMessagesAreListedAndNeverSent() throws {
        let bench = try GoogleBench.pushing()
        try bench.control("PUT", "delivery", #"{"lose":2}"#)
        try publish(bench, 3)
        #expect(try drain(bench) == [id(2, bench)])
        #expect(try bench.messages().map { $0["lost"] as? Bool } == [true, true, false])
        #expect(try bench.messages().map { $0["delivered"] as? Bool } == [false, false, true])
    }

    @Test func heldMessagesAreSentOneAfterTheOtherInAnOrderThatTheSeedDecides() throws {
        func order(_ release: String, duplicates: Int = 0) throws -> [Int] {
            let bench = try GoogleBench.pushing()
            try bench.control("PUT", "delivery", #"{"hold":true,"duplicate":\#(duplicates)}"#)
            try publish(bench, 20)
            #expect(bench.attempts().isEmpty)
            #expect(
                try bench.control("POST", "delivery/release", release).json["released"] as? Int
                    == 20 * (duplicates + 1))
            let ids = try bench.messages().compactMap { $0["messageId"] as? String }
            let first = bench.attempts()
            #expect(first.count == 1, "one after the other")
            end(first[0], 204, in: bench)
            return ([first[0].delivery.message.id] + drain(bench)).compactMap { ids.firstIndex(of: $0) }
        }
        #expect(try order("{}") == Array(0..<20))
        let seven = try order(#"{"shuffle":true,"seed":7}"#)
        #expect(seven != Array(0..<20) && seven.sorted() == Array(0..<20))
        #expect(try order(#"{"shuffle":true,"seed":7}"#) == seven)
        #expect(try order(#"{"shuffle":true,"seed":8}"#) != seven)
        let doubled = try order(#"{"shuffle":true,"seed":7}"#, duplicates: 1)
        #expect(doubled.sorted() == (0..<20).flatMap { [$0, $0] })
        #expect((1..<40).contains { doubled[$0] < doubled[$0 - 1] })
    }

    @Test func aReleaseEndsTheHoldAndARefusedMessageDoesNotKeepTheNextOnesBack() throws {
        let bench = try GoogleBench.pushing()
        try bench.control("PUT", "delivery", #"{"hold":true}"#)
        try publish(bench, 2)
        try bench.control("POST", "delivery/release")
        let first = try #require(bench.attempts().first)
        let pause = try #require(bench.end(first, 500))
        #expect(bench.attempts().map { $0.delivery.message.id } == [try id(1, bench)])
        bench.retry(pause.delivery)
        try publish(bench, 1)
        #expect(bench.attempts().map { $0.delivery.message.id } == [try id(0, bench), try id(2, bench)])
    }

    @Test func whenPushIsTurnedOffNothingIsTriedAgain() throws {
        let bench = try GoogleBench.pushing()
        try publish(bench, 2)
        let attempts = bench.attempts()
        #expect(attempts.count == 2)
        let waiting = try #require(bench.end(attempts[0], 500))
        try bench.control("DELETE", "push")
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/other"}"#)
        bench.retry(waiting.delivery)
        #expect(end(attempts[1], 500, in: bench) == nil)
        #expect(bench.attempts().isEmpty)
        try publish(bench, 1)
        #expect(bench.attempts().map(\.settings.url) == ["http://127.0.0.1:9/other"])
    }

    @Test func anotherAddressTakesWhatTheOldOneRefused() throws {
        let bench = try GoogleBench.pushing()
        try publish(bench, 1)
        end(try #require(bench.attempts().first), nil, in: bench)
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/other"}"#)
        #expect(bench.attempts().map(\.settings.url) == ["http://127.0.0.1:9/other"])
    }

    @Test func ordersAndReleasesTakeNoSlipOfThePen() throws {
        let bench = try GoogleBench.pushing()
        for body in [#"{"duplicate":101}"#, #"{"duplicate":-1}"#, #"{"lose":-1}"#, #"{"hold":1}"#, #"{"held":true}"#] {
            #expect(throws: ControlFault.self, "\(body)") { try bench.control("PUT", "delivery", body) }
        }
        #expect(throws: ControlFault.self) { try bench.control("POST", "delivery/release", #"{"seed":-1}"#) }
        #expect(throws: ControlFault.noSuchAddress) { try bench.control("POST", "delivery/x") }
        #expect(try bench.control("POST", "delivery").status == 405)
    }

    @Test func aMessageHasPubSubsEnvelope() throws {
        let bench = try GoogleBench.pushing()
        try publish(bench, 1)
        let attempt = try #require(bench.attempts().first)
        let (body, id) = (attempt.delivery.message.body("projects/p/subscriptions/s"), try id(0, bench))
        let data =
            #"{"eventTimeMillis":"1790000000000","packageName":"com.example.app","version":"1.0","#
            + #""voidedPurchaseNotification":{"purchaseToken":"t0"}}"#
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"message":{"attributes":{},"data":"\#(Data(data.utf8).base64EncodedString())","#
                + #""messageId":"\#(id)","message_id":"\#(id)","publishTime":"2026-09-21T14:13:20.000Z","#
                + #""publish_time":"2026-09-21T14:13:20.000Z"},"subscription":"projects/p/subscriptions/s"}"#)
        #expect(id.count >= 15 && id.allSatisfy(\.isNumber))
    }
}
