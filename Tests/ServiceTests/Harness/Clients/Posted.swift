/// One purchase that was posted, and what came back.
struct Posted: Sendable {
    let purchase: TestPurchase
    /// Nil where no answer came at all.
    let status: Int?
    let contentType: String?
    let retryAfter: String?
    let id: String?
    let took: Duration
}

extension [Posted] {
    /// What the service has promised to see through.
    var accepted: [Posted] { filter { $0.status == 202 || $0.status == 200 } }
    var ids: [String] { accepted.compactMap(\.id) }
    var statuses: Set<Int> { Set(compactMap(\.status)) }
    var longest: Duration { map(\.took).max() ?? .zero }
}
