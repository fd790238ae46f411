/// The states of a validation as they come, up to a final one; see ``RelayClient/states(of:)-(Validation.ID)``.
///
/// Nothing runs between two calls of `next()`, and cancelling the task that waits in one ends it at once, with
/// `CancellationError`.
public struct ValidationStates: AsyncSequence, Sendable {
    public typealias Element = Validation

    let client: RelayClient
    let id: Validation.ID
    let known: Validation?

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(client: client, id: id, polling: Polling(known: known, at: client.time.now()))
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let client: RelayClient
        let id: Validation.ID
        var polling: Polling

        public mutating func next() async throws -> Validation? {
            var event = Polling.Event.ready
            while true {
                switch polling.next(event, at: client.time.now()) {
                case .ask(let seconds): event = try await ask(seconds)
                case .pause(let duration):
                    try await client.time.sleep(duration)
                    event = .ready
                case .tell(let validation): return validation
                case .end: return nil
                case .fail(let error): throw error
                }
            }
        }

        private func ask(_ seconds: Int) async throws -> Polling.Event {
            do {
                let told = try await client.poll(id, hold: seconds)
                return .answered(told.validation, retryAfter: told.retryAfter)
            } catch let error as RelayError {
                return .failed(error)
            }
        }
    }
}
