import RelayCore

/// Counts over many sequences. They show that the sequences exercised the service.
struct ModelSum: Sendable, CustomStringConvertible {
    private var sequences = 0
    private var failed = 0
    private var validations: [ValidationStatus: Int] = [:]
    private var late = 0
    private var superseded = 0
    private var posts = 0
    private var looks = 0
    private var forwards = 0
    private var crashes = 0
    private var transfers = 0
    private var handedBack = 0
    private var stall = 0.0

    mutating func add(_ history: Model.History, _ violations: [Model.Violation]) {
        sequences += 1
        failed += violations.isEmpty ? 0 : 1
        for row in history.rows {
            validations[row.status, default: 0] += 1
            late += row.late ? 1 : 0
            superseded += row.reason == "superseded" ? 1 : 0
        }
        posts += history.posts.count
        looks += history.sightings.count
        forwards += history.forwards.count
        crashes += history.copies.count { $0.goneAt != nil }
        transfers += history.transfers.count
        let judge = Model.Judge(history)
        handedBack += Set(history.grants.map(\.subscription)).count { judge.handedBack($0) }
        stall = max(stall, history.stall)
    }

    var description: String {
        let ends = validations.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.name)" }
        return """
            \(sequences) sequences, \(failed) failed; \(posts) posts, \(forwards) forwards, \(looks) looks, \
            \(crashes) copies gone, \(transfers) transfers; ends: \(ends.joined(separator: ", ")), \(late) of them late, \
            \(superseded) superseded; \(handedBack) subscriptions that the upstream handed back; \
            longest stall \((stall * 1_000).rounded() / 1_000) s
            """
    }
}

enum ModelReport {
    /// The plan, its violations, and the history of each validation involved.
    static func text(_ plan: Model.Plan, _ history: Model.History, _ violations: [Model.Violation]) -> String {
        let ids = violations.flatMap(\.ids).filter { !$0.isEmpty }
        let stories = Set(ids).sorted().prefix(6).map { history.story(of: $0) }
        let parts = ["model: \(plan)", violations.map { "  BROKEN \($0)" }.joined(separator: "\n")] + stories
        return (parts + [history.surroundings]).joined(separator: "\n")
    }
}
