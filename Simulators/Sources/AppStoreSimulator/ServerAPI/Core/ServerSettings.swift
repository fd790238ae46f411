import AppStoreSimulation

/// What `serve` was told at its start.
struct ServerSettings: Sendable {
    let authority: StoreAuthority
    let judge: TokenJudge
    let environment: String
    /// nil where answers do not name it.
    let appAppleId: Int64?
    let pageSize: Int
    let keepRequests: Int

    var bundleId: String { judge.bundleId }
}
