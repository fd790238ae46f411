import Testing

/// Answers of a relay's probes, and its answers to apps without a database.
struct Probes {
    /// A well-formed validation id that no validation has.
    static let someID = String(repeating: "0", count: 2) + "5161" + String(repeating: "0a", count: 16)

    let relay: Relay

    init(_ relay: Relay) { self.relay = relay }

    func areNotReady(missing: String) async throws {
        #expect(try await HTTP.get(relay.opsURL + "/healthz").status == 200)
        let ready = try await HTTP.get(relay.opsURL + "/readyz")
        #expect(ready.status == 503)
        #expect(ready.text.contains(missing), "\(ready.text)")
    }

    func areReady() async throws {
        #expect(try await HTTP.get(relay.opsURL + "/healthz").status == 200)
        #expect(try await HTTP.get(relay.opsURL + "/readyz").status == 200)
    }

    /// Waits until the copy is ready, or is not.
    func become(ready: Bool) async throws {
        try await Awaiting.fact("the copy is \(ready ? "ready" : "not ready")", is: ready ? 200 : 503) {
            try await HTTP.get(relay.opsURL + "/readyz").status
        }
    }

    /// Expects 503 with `Retry-After`, as a problem.
    static func isUnavailable(_ posted: Posted) {
        #expect(posted.status == 503)
        #expect(posted.contentType == "application/problem+json")
        #expect(posted.retryAfter.flatMap { Int($0) }.map { $0 > 0 } == true)
    }
}
