import RelayCore

@testable import Relay

/// Passes of retention.
enum Passes {
    static let policy = RetentionPolicy(days: 400, receiptDays: 90)

    static func pass(_ store: RelayStore, budget: Duration? = nil) -> RetentionPass {
        RetentionPass(store: store, policy: policy, budget: budget, lockPause: .milliseconds(20))
    }

    @discardableResult
    static func run(_ store: RelayStore, isDryRun: Bool = false) async throws -> ToldSteps {
        let told = ToldSteps()
        try await pass(store).run(isDryRun: isDryRun) { told.add($0) }
        return told
    }
}
