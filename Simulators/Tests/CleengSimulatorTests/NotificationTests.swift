import Testing

@testable import CleengSimulator

@Suite struct NotificationTests {
    @Test func aNotificationWantsNoTokenAndIsAnsweredWithSuccess() {
        let bench = Bench()
        let bodies = [Notices.signed("TEST"), Notices.signed("WHAT_COMES_NEXT_YEAR"), Notices.unsigned("CANCEL")]
        for body in bodies {
            let answer = bench.notify(body)
            #expect(answer.status == 200)
            #expect(answer.json == .object(["success": .bool(true)]))
        }
        #expect(bench.send("POST", Notices.path, body: Notices.signed("TEST"), token: "other").status == 200)
        #expect(bench.send("GET", Notices.path, token: nil).header("Allow") == "POST")
    }

    @Test(arguments: [
        "", "nonsense", "[]", "{}", #"{"signedPayload":"a.b"}"#, #"{"signedPayload":7}"#, #"{"notification_type":[]}"#,
    ])
    func aBodyOfNeitherVersionIsRefusedWithOrWithoutToken(body: String) {
        let bench = Bench()
        let answer = bench.notify(body)
        #expect(answer.status == 400)
        #expect(answer.json?["success"] == .bool(false))
        #expect(answer.json?["message"]?.string?.isEmpty == false)
        #expect(bench.send("POST", Notices.path, body: body).status == 400)
    }

    @Test(arguments: [
        ("1", 200), ("Ab-9_z", 200), (String(repeating: "9", count: 64), 200), (String(repeating: "9", count: 65), 404),
        ("a.b", 404), ("%7BpublisherId%7D", 404), ("", 404), ("1/2", 404),
    ])
    func theAddressNamesAPublisher(id: String, status: Int) {
        let path = "/1.0/in_app/subscriptions/apple/status_update_notification/\(id)"
        #expect(Bench().send("POST", path, body: Notices.signed("TEST"), token: nil).status == status)
    }

    @Test func theLogTellsWhatEachWasAbout() throws {
        let bench = Bench.granted()
        let first = Notices.signed("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
        bench.notify(first)
        bench.notify(Notices.signed("TEST", signedAt: nil, uuid: "second"))
        bench.notify(Notices.unsigned("DID_RENEW", of: "8"))
        let notices = try bench.notices()
        #expect(
            notices.map { $0["notificationType"]?.string } == ["DID_CHANGE_RENEWAL_STATUS", "TEST", "DID_RENEW"])
        #expect(notices.map { $0["subtype"]?.string } == ["AUTO_RENEW_DISABLED", nil, nil])
        #expect(
            notices.map { $0["notificationUUID"]?.string } == ["002e14d5-51f5-4503-b5a8-c3a1af68eb20", "second", nil])
        #expect(notices.map { $0["originalTransactionId"]?.string } == ["7", "7", "8"])
        #expect(notices.map { $0["signedDate"]?.integer } == [(Notices.start + 10) * 1_000, nil, nil])
        let ana = "ana+after-0@example.test"
        #expect(notices.map { $0["customerEmail"]?.string } == [ana, ana, nil])
        #expect(notices.map { $0["publisherToken"]?.string } == ["absent", "absent", "absent"])
        #expect(notices.map { $0["sequence"]?.integer } == [2, 3, 4])
        #expect(notices[0]["bodyBytes"] == .int(Int64(first.utf8.count)))
        #expect(try bench.control("GET", "/_simulator/stats")["notifications"] == .int(3))
    }

    /// Also of a body that was refused; the expected value is the one that FIPS 180 gives for `abc`.
    @Test func theDigestIsOfTheBodyByteForByte() throws {
        let bench = Bench()
        let body = Notices.signed("TEST")
        for sent in ["abc", body, body, body + "\n"] { bench.notify(sent) }
        bench.pay("ana@example.test")
        let digests = try bench.notices().map { $0["bodyDigest"]?.string }
        #expect(digests[0] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(digests[1] == digests[2])
        #expect(digests[2] != digests[3])
        #expect(digests.allSatisfy { $0?.utf8.count == 64 })
        let payments = try bench.control("GET", "/_simulator/requests?path=/apple")
        guard case .array(let items) = payments["items"] else {
            Issue.record("no items")
            return
        }
        #expect(items.count == 1)
        #expect(items.allSatisfy { $0["bodyDigest"] == nil })
    }

    @Test func neitherPasswordNorSignedTextIsKept() throws {
        let bench = Bench()
        bench.notify(Notices.unsigned("CANCEL"))
        bench.notify(Notices.unsigned("CANCEL", password: #"["hush-hush"]"#))
        bench.notify(Notices.signed("TEST"))
        bench.notify(#"{"signedPayload":"eyJhbGciOi"}"#)
        let notices = try bench.notices()
        let text = String(decoding: AnyJSON.bytes(of: notices), as: UTF8.self)
        for secret in ["hush", "eyJhbGciOi", "TUlJVHdlbHZl"] { #expect(!text.contains(secret)) }
        #expect(notices[0]["body"]?["password"] == .string("present"))
        #expect(notices[0]["body"]?["unified_receipt"]?["latest_receipt"]?["length"] == .int(12))
        #expect(notices[2]["body"]?["signedPayload"]?["sha256"]?.string?.utf8.count == 64)
    }
}
