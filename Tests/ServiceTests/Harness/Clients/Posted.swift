/// One posted purchase and its answer.
struct Posted: Sendable {
    let purchase: TestPurchase
    /// `nil` if there was no answer.
    let status: Int?
    let contentType: String?
    let retryAfter: String?
    let id: String?
    let took: Duration
}

extension [Posted] {
    /// The accepted purchases, which the service must process.
    var accepted: [Posted] { filter { $0.status == 202 || $0.status == 200 } }
    var ids: [String] { accepted.compactMap(\.id) }
    var statuses: Set<Int> { Set(compactMap(\.status)) }
    var longest: Duration { map(\.took).max() ?? .zero }
}
