public import RelayCore

/// A validation as it was read, in one word: what thousands of held polls keep, or are told at once, is there once.
public final class KnownValidation: Sendable {
    public let validation: Validation

    public init(_ validation: Validation) {
        self.validation = validation
    }
}
