import Foundation

extension Relay {
    /// A running copy takes up to two seconds to learn of a new key: until each is answered with something else than 401.
    func waitUntilKnown(_ keys: [String]) async throws {
        for key in keys {
            try await poll(upTo: Awaiting.patience, "the key is known") {
                try await HTTP.get(url + "/entitlements/none", headers: ["Authorization": "Bearer \(key)"]).status
                    != 401
            }
        }
    }

    /// Asks for a fact until it holds.
    func poll(upTo limit: Duration, _ what: String, _ holds: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + limit
        while try await !holds() {
            guard ContinuousClock.now < end else { throw HarnessError.failed("waiting until \(what)", process.output) }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
