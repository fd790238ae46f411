import HTTPTypes

/// What became of a purchase that an app sent: a metric's label.
enum IntakeOutcome: String, CaseIterable, Sendable {
    case created
    case existing
    case keyReused = "idempotency_key_reused"
    case refused
    case failed
}

extension IntakeOutcome {
    /// What a refusal counts as.
    init(_ problem: Problem) {
        switch problem.code {
        case .idempotencyKeyReused: self = .keyReused
        default: self = problem.status.kind == .serverError ? .failed : .refused
        }
    }
}
