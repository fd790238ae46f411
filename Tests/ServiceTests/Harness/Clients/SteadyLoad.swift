import NIOConcurrencyHelpers

/// Purchases posted at a steady rate until stopped: eight apps, at most a hundred purchases a second.
final class SteadyLoad: Sendable {
    private struct State {
        var posted: [Posted] = []
        var isStopped = false
    }

    private static let apps = 8
    private static let limit = 2_000
    private let state = NIOLockedValueBox(State())
    private let running: Task<Void, Never>

    init(_ relay: Relay, _ name: String) {
        running = Task { [state] in
            await withTaskGroup(of: Void.self) { group in
                for app in 0..<Self.apps {
                    group.addTask {
                        for number in 0..<Self.limit where !state.withLockedValue({ $0.isStopped }) {
                            let purchase = TestPurchase(email: "\(name)-\(app)-\(number)@example.test")
                            let posted = await AppClient.post(purchase, to: relay)
                            state.withLockedValue { $0.posted.append(posted) }
                            try? await Task.sleep(for: .milliseconds(80))
                        }
                    }
                }
            }
        }
    }

    /// Returns when that many purchases have been accepted.
    func accepted(_ count: Int) async throws {
        try await Awaiting.fact("\(count) are accepted") {
            self.state.withLockedValue { $0.posted.accepted.count }
        } holds: {
            $0 >= count
        }
    }

    var posted: [Posted] { state.withLockedValue { $0.posted } }

    /// - Returns: all posted purchases, after the last answer.
    func stop() async -> [Posted] {
        state.withLockedValue { $0.isStopped = true }
        await running.value
        return posted
    }
}
