import RelayCore
import RelayStore

extension Waiter.Wake {
    var changed: Validation? {
        if case .changed(let validation) = self { validation } else { nil }
    }

    var kind: String {
        switch self {
        case .changed(let validation): validation.status.name
        case .timeout: "timeout"
        case .cancelled: "cancelled"
        case .shutdown: "shutdown"
        }
    }
}
