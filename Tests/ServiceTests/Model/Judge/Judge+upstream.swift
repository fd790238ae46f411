import RelayCore

extension Model.Judge {
    var forwardsInOrder: [Breach] {
        Dictionary(grouping: history.forwards, by: \.subscription).values.flatMap { forwards in
            var breaches: [Breach] = []
            for (index, forward) in forwards.enumerated() {
                guard let row = rowsByCoupon[forward.coupon] else {
                    breaches.append(Breach("\(forward.coupon) was sent upstream and is nowhere"))
                    continue
                }
                let newer = forwards[..<index].lazy.compactMap { rowsByCoupon[$0.coupon] }
                    .first { $0.acceptedAt > row.acceptedAt && !wasRefused($0, before: forward.startedAt) }
                if let newer {
                    breaches.append(
                        Breach(
                            "\(row.purchase) was sent at \(seconds(forward.startedAt)), after a newer request", row.id,
                            newer.id))
                }
            }
            return breaches
        }
    }

    /// Whether Cleeng refused a request or an operator abandoned it. Such a request changes no owner, so an older one
    /// may follow it.
    private func wasRefused(_ row: Model.Row, before at: Model.Seconds) -> Bool {
        history.forwards.contains { $0.coupon == row.coupon && $0.isRejected && $0.startedAt < at }
            || history.acts.contains { $0.id == row.id && $0.kind == .abandon && $0.status != 409 && $0.sentAt < at }
    }

    var oneForwardAtOnce: [Breach] {
        history.forwards.filter { $0.overlapped && !isBesideFrozen($0) }.map { forward in
            Breach(
                "two calls at once at \(seconds(forward.startedAt))", rowsByCoupon[forward.coupon]?.id ?? forward.coupon
            )
        }
    }

    /// Whether a call overlapped one of a frozen copy. Nothing ends a frozen copy's calls, and another copy sends the
    /// purchase once the lease has expired. A call that the copy sent just before the freeze may arrive a moment later.
    private func isBesideFrozen(_ forward: Model.Forward) -> Bool {
        history.forwards.contains { other in
            let end = other.endedAt ?? .infinity
            return other.subscription == forward.subscription
                && other.startedAt <= forward.endedAt ?? .infinity && forward.startedAt <= end
                && history.freezes.contains {
                    $0.from + 0.1 >= other.startedAt && $0.from <= end && $0.to + 1 >= end
                }
        }
    }

    var forwardedOnce: [Breach] {
        Dictionary(grouping: history.forwards, by: \.coupon).flatMap { coupon, forwards -> [Breach] in
            let id = rowsByCoupon[coupon]?.id ?? ""
            return zip(forwards, forwards.dropFirst()).compactMap { earlier, later in
                guard earlier.status == 200, earlier.outcome == "answered", let endedAt = earlier.endedAt else {
                    return nil
                }
                // A copy that got SIGTERM has some seconds to store its results.
                let isExcused =
                    history.copies.contains { copy in
                        copy.goneAt.map { $0 >= endedAt - 5 && $0 <= later.startedAt } == true
                    }
                    || isFrozen(from: endedAt, to: later.startedAt)
                    || history.acts.contains {
                        $0.id == id && $0.kind == .retry && $0.status != 409 && $0.sentAt <= later.startedAt
                    }
                return isExcused ? nil : Breach("sent again at \(seconds(later.startedAt)), though Cleeng had it", id)
            }
        }
    }

    /// If a copy stops between a baseline read and its forward, no forward shows that the read was a baseline. So each
    /// crash, freeze and operator's act excuses one read within four seconds of it.
    var readsAreSpaced: [Breach] {
        Dictionary(grouping: history.reads, by: \.customer).flatMap { customer, reads -> [Breach] in
            var counted = withoutBaselines(reads.sorted { $0.startedAt < $1.startedAt }, of: customer)
            var stops =
                history.copies.compactMap(\.goneAt) + history.freezes.flatMap { [$0.from, $0.to, $0.to] }
                + history.acts.filter { $0.status != 409 }.map(\.sentAt)
            while let close = tooClose(counted) {
                let excuse = close.lazy.compactMap { place in
                    stops.firstIndex { abs($0 - counted[place].startedAt) <= 4 }.map { (place, $0) }
                }.first
                guard let (place, stop) = excuse else {
                    let span = counted[close.upperBound].startedAt - counted[close.lowerBound].startedAt
                    return [
                        Breach(
                            "c\(customer) was read \(close.count) times within \(seconds(span)) from \(seconds(counted[close.lowerBound].startedAt))"
                        )
                    ]
                }
                counted.remove(at: place)
                stops.remove(at: stop)
            }
            return []
        }
    }

    /// Indices of reads that follow each other faster than one in an interval.
    private func tooClose(_ reads: [Model.Read]) -> ClosedRange<Int>? {
        for (first, read) in reads.enumerated() {
            for last in reads.indices.dropFirst(first + 1)
            where reads[last].startedAt - read.startedAt < Double(last - first) * history.pace.interval - slack {
                return first...last
            }
        }
        return nil
    }

    /// Reads without baselines. A read that ended right before a purchase was first sent is that purchase's baseline.
    private func withoutBaselines(_ reads: [Model.Read], of customer: Int) -> [Model.Read] {
        var counted = reads
        func drop(where matches: (Model.Read) -> Bool) {
            if let index = counted.lastIndex(where: matches) { counted.remove(at: index) }
        }
        var sent: Set<String> = []
        for forward in history.forwards where forward.customer == customer && sent.insert(forward.coupon).inserted {
            drop { read in
                guard let endedAt = read.endedAt else { return false }
                return endedAt <= forward.startedAt + 0.005 && read.startedAt >= forward.startedAt - 4
            }
        }
        return counted
    }
}
