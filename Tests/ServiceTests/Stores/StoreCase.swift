/// A store that sends notifications, and lives of its purchases.
enum StoreCase: String, CaseIterable, Sendable {
    case google, amazon, roku

    /// Name of its row in the grid.
    var row: String { "\(rawValue)-killed" }

    func run(
        _ settings: [String: String] = [:], _ body: (any StoreScene) async throws -> Void
    ) async throws {
        switch self {
        case .google:
            let all = settings.merging(["RELAY_VOIDED_SWEEP_SECONDS": "10"]) { own, _ in own }
            try await GoogleScene.run(all) { try await body($0) }
        case .amazon: try await AmazonScene.run(settings, isConfirmed: true) { try await body($0) }
        case .roku: try await RokuScene.run(settings) { try await body($0) }
        }
    }

    var lives: [[String]] {
        switch self {
        case .google: [["renew"], ["refund"], ["cancel"], ["hold", "renew"], ["grace"]]
        case .amazon: [["renew"], ["refund"], ["cancel"], ["grace", "renew"], ["grace"]]
        case .roku: [["renew"], ["refund"], ["cancel"], ["hold", "renew"], ["grace"]]
        }
    }
}
