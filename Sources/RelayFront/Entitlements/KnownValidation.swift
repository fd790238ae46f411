import RelayCore

/// A validation as it was read, in one word.
final class KnownValidation: Sendable {
    let validation: Validation

    init(_ validation: Validation) {
        self.validation = validation
    }
}
