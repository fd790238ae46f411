import RelayCore

/// Where Cleeng and the relay may differ on whose a subscription is, as the relay is made today.
extension Model.Judge {
    /// A customer whom Cleeng has given the subscription last, and who learns it by an older request than the owner's: that
    /// grant stands, and the owner's too, until a newer request ends it.
    func stands(_ one: Span, beside owner: Span) -> Bool {
        let last = history.grants.last { $0.subscription == one.row.purchase.subscription && $0.at <= one.from + 0.002 }
        return one.row.acceptedAt < owner.row.acceptedAt && one.from > owner.from
            && last?.customer == one.row.purchase.customer
    }

    func wasProcessed(_ row: Model.Row) -> Bool {
        history.forwards.contains { $0.coupon == row.coupon && $0.isProcessed }
    }

    /// Cleeng itself gave a subscription to an older request after a newer one's customer had got it: a slow grant that came
    /// after a quick one. Whose it is then is Cleeng's secret: the relay goes by requests.
    func handedBack(_ subscription: Int) -> Bool {
        let grants = history.grants.filter { $0.subscription == subscription }
        let forwards = history.forwards.filter { $0.subscription == subscription }.sorted {
            $0.startedAt < $1.startedAt
        }
        return grants.contains { grant in
            // Of those who had it by then, and of the one who gets it, who asked last?
            let had = Set(grants.filter { $0.at < grant.at }.map(\.customer) + [grant.customer])
            let last = forwards.last {
                $0.startedAt <= grant.at && $0.isProcessed && had.contains($0.customer)
            }
            return last.map { $0.customer != grant.customer } ?? false
        }
    }
}
