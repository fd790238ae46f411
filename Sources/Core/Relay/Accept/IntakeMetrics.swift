import AppleStore
import HTTPServer
import HTTPTypes
import Metrics
package import RelayCore
import Telemetry

/// Counts the purchases that apps send, and what their receipts proved to be.
package struct IntakeMetrics: Sendable {
    private let outcomes: [IntakeOutcome: Counter]
    private let verifications: [String: Counter]

    init(registry: PrometheusRegistry) {
        registry.describe("intake_outcomes", help: "Outcomes of purchases sent by apps.")
        outcomes = Dictionary(
            uniqueKeysWithValues: IntakeOutcome.allCases.map {
                ($0, Counter(label: "intake_outcomes", dimensions: [("outcome", $0.rawValue)], factory: registry))
            })
        registry.describe(
            "intake_verifications", help: "Receipts sent by apps: genuine, not checked, or why they are not genuine.")
        let results =
            Verification.Result.allCases.filter { $0 != .notGenuine }.map(\.name)
            + NotGenuine.Code.allCases.map(\.rawValue) + [Verification.notAPurchase]
        verifications = Dictionary(
            uniqueKeysWithValues: results.map {
                ($0, Counter(label: "intake_verifications", dimensions: [("result", $0)], factory: registry))
            })
    }

    package func count(_ outcome: IntakeOutcome) {
        outcomes[outcome]?.increment()
    }

    package func count(_ verification: Verification) {
        verifications[verification.code ?? verification.result.name]?.increment()
    }
}

/// Outcome of a purchase that an app sent: a metric's label.
package enum IntakeOutcome: String, CaseIterable, Sendable {
    case created
    case existing
    case keyReused = "idempotency_key_reused"
    case ownedByAnother = "owned_by_another"
    case refused
    case failed
}

extension IntakeOutcome {
    /// The outcome that counts a refusal.
    init(_ problem: Problem) {
        switch problem.code {
        case .idempotencyKeyReused: self = .keyReused
        case .ownedByAnother: self = .ownedByAnother
        default: self = problem.status.kind == .serverError ? .failed : .refused
        }
    }
}
