import HTTPTypes
import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("Header fields")
struct HeaderTests {
    /// U+0600 forms one character with the one after it, U+0301 with the one before it.
    @Test("a combining mark beside a separator does not hide it")
    func marks() throws {
        #expect(PreferWait.parse("x\u{600}, wait=5") == 5)
        #expect(PreferWait.parse("wait=5;\u{301}x") == 5)
        #expect(EntityTag.matches("\"b\"\u{600}, \"a\"", "\"a\""))
        #expect(AcceptHeader.wantsEventStream("x\u{600}, text/event-stream"))
        #expect(MediaTypeHeader.isJSON("application/json\u{600};charset=utf-8") == false)
        #expect(MediaTypeHeader.isJSON("application/json;\u{301}x=y; charset=latin1") == false)
        let query = QueryItems("a=1\u{600}&b=\u{301}2&c\u{600}=3")
        #expect(query["b"].map { Array($0.unicodeScalars) } == ["\u{301}", "2"] && query["c"] == nil)
        #expect(query["a"].map { Array($0.unicodeScalars) } == ["1", "\u{600}"])
        let named = try #require(
            NamedCredentials(authorization: "Bearer main:\u{301}key", query: QueryItems(nil)))
        #expect(named.publisher == "main" && named.key.unicodeScalars.first == "\u{301}")
        let folded = FoldedPaths(["/api/v1"])
        #expect(folded.fold("/api/v1/X?\u{301}Y=Z")?.utf8.elementsEqual("/api/v1/x?\u{301}Y=Z".utf8) == true)
    }

    @Test(
        "Idempotency-Key: quoted and bare are one key",
        arguments: [
            ("abc", "abc"), ("\"abc\"", "abc"), ("\"abc\";a=1", "abc"), (#""a\"b""#, "a\"b"), ("a\"b", "a\"b"),
            (String(repeating: "k", count: 255), String(repeating: "k", count: 255)),
        ])
    func idempotencyKey(_ header: String, _ key: String) throws {
        #expect(try IdempotencyKeyHeader.parse(header) == key)
    }

    @Test(
        "Idempotency-Key: an invalid one is refused",
        arguments: [
            "", "\"\"", "a b", "\"a b\"", "\"abc", "\"abc\" x", "ü", "a\tb", String(repeating: "k", count: 256),
            "one, two",
        ])
    func badIdempotencyKey(_ header: String) {
        #expect(throws: Problem(.invalidIdempotencyKey, "")) { try IdempotencyKeyHeader.parse(header) }
    }

    @Test("Idempotency-Key: absent")
    func noIdempotencyKey() throws {
        #expect(try IdempotencyKeyHeader.parse(nil) == nil)
    }

    @Test(
        "Prefer: wait",
        arguments: [
            ("wait=10", 10), ("Wait = 10", 10), ("respond-async, wait=5", 5), ("wait=60", 60), ("wait=61", 60),
            ("wait=\"7\"", 7),
            ("wait=999999999999999999", 60), ("wait=0", 0), ("wait=3; x=y", 3),
        ])
    func wait(_ header: String, _ seconds: Int) {
        #expect(PreferWait.parse(header) == seconds)
    }

    @Test(
        "Prefer: unknown values are ignored",
        arguments: [
            "", "wait", "wait=", "wait=-1", "wait=1.5", "wait=x", "wait=99999999999999999999", "waiting=5",
            "respond-async", ",,;=",
        ])
    func noWait(_ header: String) {
        #expect(PreferWait.parse(header) == nil)
    }

    @Test("If-None-Match compares weakly", arguments: ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "\"b\",W/\"a\" ", "*"])
    func matches(_ header: String) {
        #expect(EntityTag.matches(header, "\"a\""))
    }

    @Test("If-None-Match of other tags does not match", arguments: ["", "a", "\"A\"", "\"b\"", "\"aa\"", "w/\"a\""])
    func differs(_ header: String) {
        #expect(!EntityTag.matches(header, "\"a\""))
        #expect(!EntityTag.matches(nil, "\"a\""))
    }

    @Test("the entity tag differs for every visible change")
    func tags() {
        let moment = Timestamp(seconds: 0)
        let variants = [
            Fixtures.validation(), Fixtures.validation(status: .granted, settledAt: moment),
            Fixtures.validation(status: .granted, settledAt: moment + .seconds(1)),
            Fixtures.validation(status: .granted, settledAt: moment, late: true),
            Fixtures.validation(status: .granted, settledAt: moment, expiresAt: moment),
            Fixtures.validation(status: .rejected, settledAt: moment),
            Fixtures.validation(status: .rejected, settledAt: moment, reason: "x"),
            Fixtures.validation(status: .timedOut, settledAt: moment),
        ]
        #expect(Set(variants.map(EntityTag.of)).count == variants.count)
        #expect(EntityTag.of(variants[0]) == EntityTag.of(Fixtures.validation()))
        #expect(EntityTag.of(variants[0]).hasPrefix("\"") && EntityTag.of(variants[0]).hasSuffix("\""))
    }

    @Test("a stream of events is asked for by name")
    func eventStream() {
        for yes in ["text/event-stream", "TEXT/Event-Stream; q=0.5", "application/json, text/event-stream"] {
            #expect(AcceptHeader.wantsEventStream(yes), "\(yes)")
        }
        for no in ["*/*", "text/*", "application/json", "text/event-stream;q=0", "text/event-stream; q=0.00", ""] {
            #expect(!AcceptHeader.wantsEventStream(no), "\(no)")
        }
    }

    @Test("media types")
    func mediaTypes() {
        for yes in [
            nil, "application/json", "Application/JSON ; charset=UTF-8", "application/problem+json",
            "application/json;charset=\"utf-8\"",
        ] {
            #expect(MediaTypeHeader.isJSON(yes))
        }
        for no in [
            "", "text/plain", "text/json", "application/x-www-form-urlencoded", "application/json; charset=utf-16",
            "json",
        ] {
            #expect(!MediaTypeHeader.isJSON(no), "\(no)")
        }
        #expect(
            MediaTypeHeader.isIdentity(nil) && MediaTypeHeader.isIdentity("Identity")
                && !MediaTypeHeader.isIdentity("gzip"))
    }

    @Test("bearer credentials")
    func bearer() {
        #expect(BearerCredentials.parse("Bearer k") == "k")
        #expect(BearerCredentials.parse("bearer  k") == "k")
        for none in [nil, "", "Bearer", "Bearer ", "Basic k", "Bearerk"] {
            #expect(BearerCredentials.parse(none) == nil)
        }
    }

    @Test("a client's request id is accepted only if it is safe in a log")
    func requestIDs() {
        #expect(RequestID.of([.xRequestID: "a-b_c.1"]) == "a-b_c.1")
        for unsafe in ["", "a b", "a\"b", "ü", String(repeating: "a", count: 65)] {
            let made = RequestID.of([.xRequestID: unsafe])
            #expect(made != unsafe && RequestID.isSafe(made) && made.utf8.count == 16)
        }
    }

    @Test("the poll interval is sent in whole seconds, rounded up")
    func interval() {
        #expect(PollInterval(.seconds(5)).text == "5")
        #expect(PollInterval(.milliseconds(5_001)).seconds == 6)
        #expect(PollInterval(.milliseconds(100)).seconds == 1)
        #expect(PollInterval(.zero).seconds == 1)
    }
}
