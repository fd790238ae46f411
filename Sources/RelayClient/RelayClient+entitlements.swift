import Foundation

extension RelayClient {
    /// What is known of a validation now. One request, one try.
    ///
    /// - Throws: ``RelayError``; its code is ``RelayError/Code/unknownValidation`` for an id that the relay does not
    ///   know, or not of this app.
    public func status(of id: Validation.ID) async throws -> Validation {
        try await validation(request("GET", entitlements.appending(component: id))).validation
    }

    /// The state of a validation, and each one that follows, until a final one. Lost connections, 429 and 5xx are
    /// outlived.
    ///
    /// Polls are held by the relay, which answers them when something changes; where they are not held, they come in
    /// the rhythm that the relay asks for, every five seconds.
    ///
    /// The sequence throws ``RelayError``: ``RelayError/Code/noOutcome`` where neither an answer nor a final state came
    /// until half a minute after the relay's own deadline; others at once where asking again would not help.
    public func states(of id: Validation.ID) -> ValidationStates {
        ValidationStates(client: self, id: id, known: nil)
    }

    /// The same, beginning with this state.
    public func states(of validation: Validation) -> ValidationStates {
        ValidationStates(client: self, id: validation.id, known: validation)
    }

    /// Whether a customer is entitled to an offer now, by the purchase that counts: what an app asks at its start. One
    /// request, one try.
    ///
    /// - Parameters:
    ///   - email: the customer's, as the purchases were posted with it.
    ///   - offer: its id at the billing system.
    ///   - fresh: the relay asks the billing system first, at most once in five seconds for a customer. So somebody
    ///     who bought on the web is found. It takes longer; for an app's start the default is enough.
    /// - Returns: nil where the relay knows of no purchase.
    /// - Throws: ``RelayError``.
    public func entitlement(email: String, offer: String, fresh: Bool = false) async throws -> Validation? {
        let answer = try await call(question([("customerEmail", email), ("offerId", offer)], fresh: fresh))
        if let nothing = try? JSONDecoder().decode(NothingKnown.self, from: answer.body), nothing.isSo { return nil }
        return try answer.validation().validation
    }

    /// Every offer that the relay knows of a customer, in any app of the publisher's, the newest first and 100 at most. One
    /// request, one try.
    ///
    /// - Parameters:
    ///   - email: the customer's, as the purchases were posted with it.
    ///   - fresh: as in ``entitlement(email:offer:fresh:)``.
    /// - Throws: ``RelayError``.
    public func entitlements(email: String, fresh: Bool = false) async throws -> [Validation] {
        try await call(question([("customerEmail", email)], fresh: fresh)).validations()
    }

    private func question(_ items: [(name: String, value: String)], fresh: Bool) -> RelayRequest {
        var parts = URLComponents(url: entitlements, resolvingAgainstBaseURL: true)
        parts?.percentEncodedQueryItems = items.map { name, value in
            // Stricter than a query has to be: nobody on the way may take a plus sign for a space.
            URLQueryItem(name: name, value: value.addingPercentEncoding(withAllowedCharacters: Self.unreserved))
        }
        var request = request("GET", parts?.url ?? entitlements)
        if fresh { request.headers["Cache-Control"] = "no-cache" }
        return request
    }

    /// One poll; held for so many seconds where that is not 0.
    func poll(_ id: Validation.ID, hold seconds: Int) async throws -> PolledValidation {
        var request = request("GET", entitlements.appending(component: id))
        if seconds > 0 {
            request.headers["Prefer"] = "wait=\(seconds)"
            request.timeout += .seconds(seconds)
        }
        return try await validation(request)
    }

    private var entitlements: URL { baseURL.appending(path: "entitlements") }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// What the relay says of a customer who never bought an offer.
struct NothingKnown: Decodable {
    private var status: String
    private var validationId: String?

    var isSo: Bool { status == "unknown" && validationId == nil }
}

/// The states of a validation as they come, up to a final one; see ``RelayClient/states(of:)-(Validation.ID)``.
///
/// Nothing runs between two calls of `next()`, and cancelling the task that waits in one ends it at once, with
/// `CancellationError`.
public struct ValidationStates: AsyncSequence, Sendable {
    public typealias Element = RelayClient.Validation

    let client: RelayClient
    let id: RelayClient.Validation.ID
    let known: RelayClient.Validation?

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(client: client, id: id, polling: Polling(known: known, at: client.time.now()))
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let client: RelayClient
        let id: RelayClient.Validation.ID
        var polling: Polling

        public mutating func next() async throws -> RelayClient.Validation? {
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
                let answer = try await client.poll(id, hold: seconds)
                return .answered(answer.validation, retryAfter: answer.retryAfter)
            } catch let error as RelayError {
                return .failed(error)
            }
        }
    }
}
