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
    /// - Returns: nil where the relay knows of no purchase.
    /// - Throws: ``RelayError``.
    public func entitlement(email: String, offer: String) async throws -> Validation? {
        func item(_ name: String, _ value: String) -> URLQueryItem {
            // Stricter than a query has to be: nobody on the way may take a plus sign for a space.
            URLQueryItem(name: name, value: value.addingPercentEncoding(withAllowedCharacters: Self.unreserved))
        }
        var parts = URLComponents(url: entitlements, resolvingAgainstBaseURL: true)
        parts?.percentEncodedQueryItems = [item("customerEmail", email), item("offerId", offer)]
        let answer = try await call(request("GET", parts?.url ?? entitlements))
        if let nothing = try? JSONDecoder().decode(NothingKnown.self, from: answer.body), nothing.isSo { return nil }
        return try answer.validation().validation
    }

    /// One poll; held for so many seconds where that is not 0.
    func poll(_ id: Validation.ID, hold seconds: Int) async throws -> Told {
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
