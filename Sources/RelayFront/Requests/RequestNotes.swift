import NIOConcurrencyHelpers
import RelayCore

/// What a route wants the log to tell of its request.
final class RequestNotes: Sendable {
    private let box = NIOLockedValueBox<(validation: ValidationID?, keyID: String?)>((nil, nil))

    var validation: ValidationID? {
        get { box.withLockedValue { $0.validation } }
        set { box.withLockedValue { $0.validation = newValue } }
    }

    var keyID: String? {
        get { box.withLockedValue { $0.keyID } }
        set { box.withLockedValue { $0.keyID = newValue } }
    }
}
