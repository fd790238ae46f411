import Formats
import HTTPTypes
import RelayCore
import Traces

@testable import Console
@testable import HTTPServer
@testable import Relay

extension FuzzTarget {
    /// Every header field that the front reads, each from the same text.
    static let headers = FuzzTarget(
        "headers",
        seeds: texts([
            "Bearer rr_app_0123456789abcdef_0123456789abcdef0123456789abcdef", "Basic bWFpbjprZXk=",
            "\"key \\\"1\\\"\"",
            "203.0.113.7, [2001:db8::1]:443, 192.0.2.1:8080", "wait=30; x=1, respond-async", "W/\"5f\", \"abc\", *",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "text/event-stream;q=0.5, */*;q=0",
            "application/problem+json; charset=\"utf-8\"", "relay_session=0123456789abcdef; other=1", "sha256=00ff",
            "[6.6.6.7]\u{600}, 10.0.0.1",
        ])
    ) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        _ = BearerCredentials.parse(text)
        _ = NamedCredentials(authorization: text, query: QueryItems(nil))
        _ = try? IdempotencyKeyHeader.parse(text)
        if let seconds = PreferWait.parse(text), !(0...PreferWait.maximumSeconds).contains(seconds) {
            throw FuzzFinding(what: "a wait of \(seconds) s")
        }
        _ = AcceptHeader.wantsEventStream(text)
        _ = EntityTag.matches(text, "\"5f\"")
        _ = (MediaTypeHeader.isJSON(text), MediaTypeHeader.isIdentity(text), RequestID.isSafe(text))
        _ = TraceContext(traceparent: text, tracestate: text)?.traceparent
        _ = StoredTrace.context(text)
        let trusted = ["10.0.0.0/8", "2001:db8::/32"].compactMap { AddressRange($0) }
        _ = ClientAddress.find(peer: IPAddress("10.0.0.1"), forwardedFor: text, trusted: trusted)
        _ = (IPAddress(text)?.uncompressed, AddressRange(text))
        for encoding in EventSignature.Encoding.allCases {
            _ = EventSignature(secret: "s", header: "X", encoding: encoding).isValid(text, over: bytes)
        }
        var fields = HTTPFields()
        fields[.cookie] = text
        _ = SessionCookie.token(in: fields)
    }

    /// Customer tokens and key sets; the first byte selects one.
    static let customerTokens = FuzzTarget(
        "customer-tokens",
        seeds: texts([
            "0eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ.eyJlbWFpbCI6ImFuYUBleGFtcGxlLnRlc3QiLCJleHAiOjE4OTM0NTYwMDB9.AAAA",
            #"1{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"AAAA","y":"AAAA"},{"kty":"RSA","n":"AEAA","e":"AQAB","d":"QAAA","use":"sig"},{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}"#,
        ])
    ) { bytes in
        let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
        if bytes.first.map({ $0 & 1 }) == 0 {
            _ = JSONWebToken(text)?.claims
        } else if let keys = try? await JSONWebKeySet(json: text) {
            _ = keys.knows("a")
        }
    }
}
