/// A page of the request log, oldest first.
struct RequestPage: Encodable {
    let items: [RequestView]
    /// How many requests match; more than `items` where the limit cut the page.
    let totalItemCount: Int
    /// Where there is more: what to send as `after` for the next page.
    let nextAfter: Int?
    /// How many older requests the log no longer holds.
    let forgotten: Int

    init(_ matching: some Sequence<LoggedRequest>, limit: Int, forgotten: Int) {
        var items: [RequestView] = []
        var total = 0
        for request in matching {
            total += 1
            if items.count < limit { items.append(RequestView(request)) }
        }
        self.items = items
        self.forgotten = forgotten
        totalItemCount = total
        nextAfter = total > items.count ? items.last?.sequence : nil
    }
}
