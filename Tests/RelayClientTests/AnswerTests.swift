import Foundation
import Testing

@testable import RelayClient

@Suite("Answers as they come") struct AnswerTests {
    private func decode(_ text: String) throws -> RelayClient.Validation {
        try JSONDecoder().decode(RelayClient.Validation.self, from: Data(text.utf8))
    }

    @Test("the answer to a purchase")
    func accepted() throws {
        let validation = try decode(
            """
            {"validationId":"db51","status":"pending","accessGranted":false,"customerEmail":"ana@example.test",
             "offerId":"S1_US","receivedAt":"2026-11-21T02:38:28.391Z","deadline":"2026-11-21T02:39:28.391Z",
             "pollAfterSeconds":5,"warnings":[{"field":"couponCode","code":"ignored","detail":"blank","more":true}]}
            """)
        #expect(validation.id == "db51")
        #expect(validation.status == .pending)
        #expect(validation.outcome == nil)
        #expect(validation.deadline.timeIntervalSince(validation.receivedAt) == 60)
        #expect(validation.warnings == [.init(field: "couponCode", code: "ignored", detail: "blank")])
        #expect(!validation.isLate)
    }

    @Test("the answer to a poll")
    func granted() throws {
        let validation = try decode(
            """
            {"validationId":"db51","status":"granted","accessGranted":true,"offerId":"S1_US","reason":null,
             "receivedAt":"2026-11-21T02:38:28.391Z","settledAt":"2026-11-21T02:39:38Z",
             "deadline":"2026-11-21T02:39:28.391Z","late":true,"expiresAt":"2026-12-21T02:38:36.000Z"}
            """)
        let expiry = Date(timeIntervalSince1970: 1_797_820_716)
        #expect(validation.outcome == .granted(until: expiry, late: true))
        #expect(validation.settledAt?.timeIntervalSince1970 == 1_795_228_778)
    }

    @Test("a newer relay's: unknown statuses, members and moments break nothing")
    func newer() throws {
        let validation = try decode(
            """
            {"validationId":"db51","status":"paused","accessGranted":true,"offerId":"S1_US","reason":null,"a":{"b":[1]},
             "receivedAt":"2026-11-21T02:38:28.391Z","deadline":"2026-11-21T02:39:28.391Z","expiresAt":"some day"}
            """)
        #expect(validation.status.rawValue == "paused")
        #expect(validation.status.isFinal)
        // The access flag counts, whatever the status is.
        #expect(validation.outcome == .granted(until: nil, late: false))
    }

    @Test(
        "statuses and what an app does about them",
        arguments: [
            (.pending, nil), (.rejected, .refused(reason: "R")), (.timedOut, .assumeFailed),
            (.transferred, .refused(reason: "R")), (.revoked, .refused(reason: "R")),
            (.granted, .granted(until: nil, late: false)), (.init(rawValue: "new"), .refused(reason: "R")),
        ] as [(RelayClient.Validation.Status, Outcome?)])
    func outcomes(status: RelayClient.Validation.Status, outcome: Outcome?) {
        #expect(RelayClient.Validation.sample(status, reason: "R").outcome == outcome)
    }

    @Test("a problem, with its fields")
    func problem() {
        let body = """
            {"type":"urn:x","title":"Some fields are wrong","status":422,"detail":"see errors","code":"invalid_fields","new":1,
             "errors":[{"field":"offerId","code":"required","detail":"is required","hint":"x"},{"field":"a"}]}
            """
        let error = RelayError(
            RelayAnswer(status: 422, headers: ["x-request-id": "abc", "RETRY-AFTER": "3"], body: Data(body.utf8)))
        #expect(error.code == .invalidFields)
        #expect(error.detail == "see errors")
        #expect(error.httpStatus == 422)
        #expect(error.requestID == "abc")
        #expect(error.retryAfter == .seconds(3))
        #expect(
            error.errors == [
                RelayError.FieldError(field: "offerId", code: "required", detail: "is required"),
                RelayError.FieldError(field: "a", code: "", detail: ""),
            ])
        #expect(!error.isRetryable)
    }

    @Test("what is not the relay's answer", arguments: [(502, true), (403, false), (429, true), (302, false)])
    func stranger(status: Int, isRetryable: Bool) {
        let error = RelayError(RelayAnswer(status: status, body: Data("<html>".utf8)))
        #expect(error.code == .notUnderstood)
        #expect(error.isRetryable == isRetryable)
    }

    @Test("an unusable Retry-After is ignored", arguments: ["-1", "Sat, 21 Nov 2026 02:38:28 GMT", "", "1e9"])
    func retryAfter(text: String) {
        #expect(RelayAnswer(status: 503, headers: ["Retry-After": text]).retryAfter == nil)
    }
}
