import Relay
import RelayCore

/// Accepts all samples at once, distributed over the intakes in turn. The outcomes are in the samples' order.
func acceptAll(_ samples: [Acceptance], by intakes: [Intake]) async throws -> [AcceptOutcome] {
    try await withThrowingTaskGroup { group in
        for (index, sample) in samples.enumerated() {
            group.addTask { (index, try await intakes[index % intakes.count].accept(sample)) }
        }
        let outcomes = try await group.reduce(into: [Int: AcceptOutcome]()) { $0[$1.0] = $1.1 }
        return samples.indices.compactMap { outcomes[$0] }
    }
}

extension AcceptOutcome {
    var isCreated: Bool { acceptedAt != nil }

    var acceptedAt: Timestamp? {
        if case .created(let acceptedAt, _) = self { acceptedAt } else { nil }
    }

    var existing: ValidationID? {
        if case .existing(let id) = self { id } else { nil }
    }
}
