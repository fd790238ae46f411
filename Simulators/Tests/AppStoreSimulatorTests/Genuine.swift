import AppStoreSimulation
import AppleStore

/// Whether the relay would take a signed text for genuine, with the authority's root as its only extra one.
func isGenuine(_ text: String, by authority: StoreAuthority) async throws -> Bool {
    let trust = ChainOfTrust(try TrustedRoots(adding: [Array(authority.rootPEM.utf8)]))
    // Renewal information has a date of signing under the same name.
    let transaction = try SignedTransaction(CompactJWS(text))
    do {
        _ = try await transaction.jws.verify(trust, signedDate: transaction.payload.signedDate)
        return true
    } catch {
        return false
    }
}
