import Relay
import RelayCore

extension Waiter.Wake {
    var changed: Validation? {
        if case .changed(let known) = self { known.validation } else { nil }
    }

    var kind: String {
        switch self {
        case .changed(let known): known.validation.status.name
        case .timeout: "timeout"
        case .keyInDoubt: "key in doubt"
        case .cancelled: "cancelled"
        case .shutdown: "shutdown"
        }
    }
}
