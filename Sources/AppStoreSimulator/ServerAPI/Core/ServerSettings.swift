import AppStoreSimulation

/// What `serve` was told at its start.
struct ServerSettings: Sendable {
    let authority: StoreAuthority
    let judge: TokenJudge
    var environment = "Sandbox"
    var appAppleId: Int64?
    var pageSize = 20
    var keepRequests = 10_000

    var bundleId: String { judge.bundleId }
}
