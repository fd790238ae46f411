import RelayCore

/// Cases in which Cleeng and the relay may name different owners, as the relay works today.
extension Model.Judge {
    /// Whether a grant may coexist with the owner's. Cleeng gave this customer the subscription last, but the relay
    /// learned it by an older request than the owner's. Both grants remain until a newer request ends one.
    func stands(_ one: Span, beside owner: Span) -> Bool {
        let last = history.grants.last { $0.subscription == one.row.purchase.subscription && $0.at <= one.from + 0.002 }
        return one.row.acceptedAt < owner.row.acceptedAt && one.from > owner.from
            && last?.customer == one.row.purchase.customer
    }

    func wasProcessed(_ row: Model.Row) -> Bool {
        history.forwards.contains { $0.coupon == row.coupon && $0.isProcessed }
    }

    /// Whether Cleeng gave a subscription to an older request after a newer request's customer had it, because its
    /// grant was slow. Cleeng does not report its owner then, and the relay ranks requests.
    func handedBack(_ subscription: Int) -> Bool {
        let grants = history.grants.filter { $0.subscription == subscription }
        let forwards = history.forwards.filter { $0.subscription == subscription }.sorted {
            $0.startedAt < $1.startedAt
        }
        return grants.contains { grant in
            // The newest request among the customers who had it by then and the one who gets it now.
            let had = Set(grants.filter { $0.at < grant.at }.map(\.customer) + [grant.customer])
            let last = forwards.last {
                $0.startedAt <= grant.at && $0.isProcessed && had.contains($0.customer)
            }
            return last.map { $0.customer != grant.customer } ?? false
        }
    }
}
