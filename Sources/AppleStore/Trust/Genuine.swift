/// What a signature proved.
public struct Genuine: Sendable, Hashable {
    /// The key is one on a developer's machine (StoreKit testing) that was added to the trusted roots. It may sign anything:
    /// only what claims to come from there is to be believed.
    public let isLocal: Bool
}
