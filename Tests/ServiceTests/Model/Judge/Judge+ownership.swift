import RelayCore

extension Model.Judge {
    private var subscriptions: Set<Int> {
        Set(history.rows.map(\.purchase.subscription) + history.grants.map(\.subscription))
    }

    func rows(of subscription: Int) -> [Model.Row] {
        history.rows.filter { $0.purchase.subscription == subscription }
    }

    var grantsHaveEvidence: [Breach] {
        history.events.filter { $0.kind == .granted }.compactMap { event in
            guard let row = rows[event.id] else { return nil }
            let grants = history.grants.filter { $0.subscription == row.purchase.subscription }
            let isGranted = grants.indices.contains { index in
                guard grants[index].customer == row.purchase.customer else { return false }
                let end = index + 1 < grants.count ? grants[index + 1].at : .infinity
                // The read behind the grant may be older than the grant by one call at most.
                return grants[index].at <= event.at + 0.002 && end >= event.at - 2 - slack
            }
            return isGranted ? nil : Breach("\(row.purchase) is granted, and not by Cleeng", row.id)
        }
    }

    var oneOwner: [Breach] {
        subscriptions.flatMap { subscription -> [Breach] in
            let had = rows(of: subscription).flatMap { spans(of: $0) }
            let isHandedBack = handedBack(subscription)
            var breaches: [Breach] = []
            for (index, one) in had.enumerated() where !isHandedBack {
                for other in had[(index + 1)...] where other.row.purchase.customer != one.row.purchase.customer {
                    let overlap = min(one.to, other.to) - max(one.from, other.from)
                    guard overlap > slack, !stands(one, beside: other), !stands(other, beside: one) else { continue }
                    breaches.append(
                        Breach(
                            "s\(subscription) was had by c\(one.row.purchase.customer) and c\(other.row.purchase.customer)",
                            one.row.id, other.row.id))
                }
            }
            return breaches + brokenChain(subscription)
        }
    }

    struct Span {
        var row: Model.Row
        var from: Model.Seconds
        var to: Model.Seconds
    }

    /// Intervals in which a validation was visibly granted. They start with the write, since a blocked database delays
    /// it after the decision.
    private func spans(of row: Model.Row) -> [Span] {
        let told = events[row.id] ?? []
        return told.filter { $0.kind == .granted }.map { granted in
            Span(
                row: row, from: granted.recordedAt,
                to: told.first { $0.kind == .transferred && $0.recordedAt >= granted.recordedAt }?.at ?? .infinity)
        }
    }

    private func brokenChain(_ subscription: Int) -> [Breach] {
        let chain = history.transfers.filter { $0.subscription == subscription }.sorted { $0.at < $1.at }
        let gaps = zip(chain, chain.dropFirst()).filter { $0.to != $1.from }.map { _, later in
            Breach("s\(subscription) passed from c\(later.from), who did not have it", later.fromID, later.toID)
        }
        let untold = rows(of: subscription).filter { has(.transferred, $0.id) && !handedBack(subscription) }.filter {
            row in
            !chain.contains { $0.from == row.purchase.customer }
        }
        return gaps + untold.map { Breach("\($0.purchase) is transferred, and no transfer says so", $0.id) }
    }

    var newestOwns: [Breach] {
        subscriptions.compactMap { subscription in
            guard !handedBack(subscription) else { return nil }
            let newest = rows(of: subscription).filter { has(.granted, $0.id) }.max { $0.acceptedAt < $1.acceptedAt }
            let owner = history.owners.first { $0.subscription == subscription }
            guard newest?.id != owner?.id else { return nil }
            return Breach(
                "s\(subscription) is \(owner.map { "c\($0.customer)'s" } ?? "nobody's"), the newest that was granted is "
                    + "\(newest.map { "\($0.purchase)" } ?? "none")", newest?.id ?? "", owner?.id ?? "")
        }
    }

    var endAgrees: [Breach] {
        subscriptions.flatMap { subscription -> [Breach] in
            guard !handedBack(subscription) else { return [] }
            let rows = rows(of: subscription)
            guard let last = history.grants.last(where: { $0.subscription == subscription }) else {
                return rows.filter { $0.status == .granted }.map {
                    Breach("\($0.purchase) is granted to the end", $0.id)
                }
            }
            let theirs = rows.filter { $0.purchase.customer == last.customer }
            // An operator abandoned it although Cleeng had processed it, so the relay no longer reads it.
            guard !theirs.contains(where: { has(.abandoned, $0.id) && wasProcessed($0) }) else { return [] }
            let wrong = rows.filter { $0.status == .granted && $0.purchase.customer != last.customer }
                .map { Breach("\($0.purchase) is granted to the end, Cleeng says c\(last.customer)", $0.id) }
            let isGranted = theirs.contains { $0.status == .granted }
            return isGranted
                ? wrong
                : wrong + [Breach("c\(last.customer) has s\(subscription) and is not told", theirs.last?.id ?? "")]
        }
    }
}
