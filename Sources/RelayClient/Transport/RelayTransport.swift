/// Carries one request to the relay. Another one than ``URLSessionTransport`` is for tests, and for apps with a network
/// stack of their own.
public protocol RelayTransport: Sendable {
    /// - Throws: where no answer came; an answer of any status is no error. Should end soon where the task is
    ///   cancelled.
    func send(_ request: RelayRequest) async throws -> RelayAnswer
}
