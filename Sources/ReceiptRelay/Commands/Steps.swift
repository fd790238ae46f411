import NIOConcurrencyHelpers
import RelayStore

/// What a pass has told so far.
final class Steps: Sendable {
    private let steps = NIOLockedValueBox<[RetentionPass.Step]>([])

    func add(_ step: RetentionPass.Step) {
        steps.withLockedValue { $0.append(step) }
    }

    var isEmpty: Bool { steps.withLockedValue(\.isEmpty) }

    /// Something is left that is to go and could not.
    var isIncomplete: Bool {
        steps.withLockedValue { steps in
            steps.contains {
                switch $0 {
                case .locked, .elsewhere, .unfinished: true
                default: false
                }
            }
        }
    }
}
