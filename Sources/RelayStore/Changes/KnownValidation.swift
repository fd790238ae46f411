import NIOConcurrencyHelpers
public import RelayCore

/// A validation as it was read, in one word: what thousands of held polls keep, or are told at once, is there once.
public final class KnownValidation: Sendable {
    public let validation: Validation
    private let form = NIOLockedValueBox<(any Sendable)?>(nil)

    public init(_ validation: Validation) {
        self.validation = validation
    }

    /// What it is told as, made when it is first told.
    ///
    /// - Parameter make: the same for all who ask.
    public func told<Form: Sendable>(as make: (Validation) -> Form) -> Form {
        form.withLockedValue { form in
            if let made = form as? Form { return made }
            let made = make(validation)
            form = made
            return made
        }
    }
}
