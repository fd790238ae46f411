import RelayClient

// begin start
extension Shop {
    /// At each start of the app, and when it comes to the front: whether the content is open.
    func look(offer: String) async throws -> Bool {
        guard let known = try await relay.entitlement(email: email, offer: offer) else { return false }
        // Where the app was closed in the middle, this waits for the rest.
        for try await state in relay.states(of: known) where state.status.isFinal {
            return state.accessGranted
        }
        return false
    }
}
// end start
