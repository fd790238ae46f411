import Foundation

extension RelayClient {
    /// Returns the current state of a validation, with one request and no retry.
    ///
    /// - Throws: ``RelayError``; its code is ``RelayError/Code/unknownValidation`` for an id that is unknown, or
    ///   belongs to another app.
    public func status(of id: Validation.ID) async throws -> Validation {
        try await validation(request("GET", entitlements.appending(component: id))).validation
    }

    /// The state of a validation, and each later one, up to a final state. Survives lost connections, 429 and 5xx.
    ///
    /// The relay holds polls and answers them when something changes. Polls that are not held are sent at the relay's
    /// interval, every five seconds.
    ///
    /// The sequence throws ``RelayError``. The code is ``RelayError/Code/noOutcome`` if no answer or no final state
    /// came within half a minute after the relay's deadline. Other errors are thrown at once if a retry cannot help.
    public func states(of id: Validation.ID) -> ValidationStates {
        ValidationStates(client: self, id: id, known: nil)
    }

    /// The same, starting with this state.
    public func states(of validation: Validation) -> ValidationStates {
        ValidationStates(client: self, id: validation.id, known: validation)
    }

    /// Returns whether a customer is entitled to an offer now, by the newest relevant purchase. Apps ask this when they
    /// start. Sends one request and does not retry.
    ///
    /// - Parameters:
    ///   - email: the customer's email, as posted with the purchases.
    ///   - offer: the offer's id at the billing system.
    ///   - fresh: the relay asks the billing system first, at most once in five seconds for a customer. This finds
    ///     purchases made on the web, but takes longer. The default is enough for an app's start.
    /// - Returns: nil if the relay knows of no purchase.
    /// - Throws: ``RelayError``.
    public func entitlement(email: String, offer: String, fresh: Bool = false) async throws -> Validation? {
        let answer = try await call(question([("customerEmail", email), ("offerId", offer)], fresh: fresh))
        if let nothing = try? JSONDecoder().decode(NothingKnown.self, from: answer.body), nothing.isSo { return nil }
        return try answer.validation().validation
    }

    /// Returns every known offer of a customer, in all apps of the publisher, newest first, 100 at most. Sends one
    /// request and does not retry.
    ///
    /// - Parameters:
    ///   - email: the customer's email, as posted with the purchases.
    ///   - fresh: like in ``entitlement(email:offer:fresh:)``.
    /// - Throws: ``RelayError``.
    public func entitlements(email: String, fresh: Bool = false) async throws -> [Validation] {
        try await call(question([("customerEmail", email)], fresh: fresh)).validations()
    }

    private func question(_ items: [(name: String, value: String)], fresh: Bool) -> RelayRequest {
        var parts = URLComponents(url: entitlements, resolvingAgainstBaseURL: true)
        parts?.percentEncodedQueryItems = items.map { name, value in
            // Stricter than a query requires: no proxy may read a plus sign as a space.
            URLQueryItem(name: name, value: value.addingPercentEncoding(withAllowedCharacters: Self.unreserved))
        }
        var request = request("GET", parts?.url ?? entitlements)
        if fresh { request.headers["Cache-Control"] = "no-cache" }
        return request
    }

    /// Sends one poll. The relay holds it for this many seconds, or answers at once for 0.
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

/// The relay's answer if the customer never bought an offer.
struct NothingKnown: Decodable {
    private var status: String
    private var validationId: String?

    var isSo: Bool { status == "unknown" && validationId == nil }
}

/// The states of a validation, up to a final one; see ``RelayClient/states(of:)-(Validation.ID)``.
///
/// Nothing runs between two calls of `next()`. Cancelling a task that waits in `next()` ends the wait at once with
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
