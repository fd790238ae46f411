import Foundation

extension Relay {
    /// Waits until no key is answered with 401: a running copy takes up to two seconds to read a new key.
    func waitUntilKnown(_ keys: [String]) async throws {
        for key in keys {
            try await poll(upTo: Awaiting.patience, "the key is known") {
                try await HTTP.get(url + "/entitlements/none", headers: ["Authorization": "Bearer \(key)"]).status
                    != 401
            }
        }
    }

    /// Checks a condition until it holds.
    func poll(upTo limit: Duration, _ what: String, _ holds: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + limit
        while try await !holds() {
            guard ContinuousClock.now < end else { throw HarnessError.failed("waiting until \(what)", process.output) }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
