import RelayCore

extension Model.Judge {
    private var sightings: [String: [Model.Sighting]] { Dictionary(grouping: history.sightings, by: \.id) }

    var neverBack: [Breach] {
        Dictionary(grouping: history.sightings, by: { "\($0.id) \($0.client) \($0.copy)" }).values.flatMap { seen in
            zip(seen, seen.dropFirst()).compactMap { earlier, later in
                guard !Self.leads(earlier.status, to: later.status) else { return nil }
                return Breach(
                    "\(later.client) at \(later.copy) saw \(earlier.status.name) and at \(seconds(later.at)) "
                        + "\(later.status.name) again", later.id)
            }
        }
    }

    var neverStale: [Breach] {
        let behind = history.pace.lag + slack
        return sightings.flatMap { id, sightings in
            // Times at which each status was known: settled in the database, or seen by any client.
            var known = (events[id] ?? []).compactMap { event in
                event.kind.seen.map { (at: visible(event.recordedAt), status: $0) }
            }
            for status in ValidationStatus.allCases {
                let first = sightings.filter { $0.status == status }.min { $0.at < $1.at }
                if let first { known.append((first.at, status)) }
            }
            return sightings.compactMap { sighting -> Breach? in
                let stale = known.first {
                    $0.at < sighting.sentAt - behind && !Self.leads($0.status, to: sighting.status)
                }
                guard let stale else { return nil }
                return Breach(
                    "\(sighting.client) at \(sighting.copy) was told \(sighting.status.name) at \(seconds(sighting.at)), "
                        + "\(stale.status.name) since \(seconds(stale.at))", id)
            }
        }
    }

    var deadlineHolds: [Breach] {
        let told = history.sightings.compactMap { sighting -> Breach? in
            guard let row = rows[sighting.id] else { return nil }
            let who = "\(sighting.client) at \(sighting.copy)"
            if let deadline = sighting.deadline, abs(deadline - row.deadline) > 0.002 {
                return Breach("\(who) was told of another deadline", row.id)
            }
            switch sighting.status {
            case .pending where sighting.sentAt >= row.deadline:
                return Breach(
                    "\(who) asked \(seconds(sighting.sentAt - row.deadline)) after the deadline: pending", row.id)
            case .pending
            where sighting.at > row.deadline + history.pace.lag + slack
                && !isFrozen(sighting.copy, from: sighting.sentAt, to: sighting.at):
                return Breach(
                    "\(who) was told pending \(seconds(sighting.at - row.deadline)) after the deadline", row.id)
            case .timedOut where sighting.at < row.deadline && sighting.reason != "superseded":
                return Breach("\(who) was told timed_out before the deadline", row.id)
            default: return nil
            }
        }
        let written = history.rows.compactMap { row -> Breach? in
            if abs(row.deadline - row.acceptedAt - history.pace.timeout) > 0.001 {
                return Breach("its deadline is \(seconds(row.deadline - row.acceptedAt)) after its acceptance", row.id)
            }
            guard row.status == .timedOut, row.reason != "superseded" else { return nil }
            guard let settledAt = row.settledAt, abs(settledAt - row.deadline) < 0.001 else {
                return Breach("it timed out, but not at its deadline", row.id)
            }
            return nil
        }
        return told + written
    }

    var heldPollsWake: [Breach] {
        history.sightings.filter { $0.kind == .held }.compactMap { sighting in
            guard let row = rows[sighting.id] else { return nil }
            var changes = (events[row.id] ?? []).filter { $0.kind.seen != nil }.map { visible($0.recordedAt) }
            if has(.timedOut, row.id) { changes.append(row.deadline) }
            // The poll may have read a change that was recorded when it was sent.
            let first = changes.filter { $0 > sighting.sentAt + slack && $0 < sighting.at }.min()
            guard let first, sighting.at - first > history.pace.lag + slack,
                !isFrozen(sighting.copy, from: sighting.sentAt, to: sighting.at)
            else { return nil }
            return Breach(
                "\(sighting.client) at \(sighting.copy) was woken \(seconds(sighting.at - first)) after the change",
                row.id)
        }
    }

    var copiesAnswer: [Breach] {
        let misses = history.misses.filter { miss in
            // The other copy may wait without success for rows that a frozen copy has locked.
            miss.status != 404 && lives(miss.copy, until: miss.at)
                && !(miss.status == 503 && isFrozen(from: miss.sentAt, to: miss.at))
        }.map { miss in
            Breach("a poll got \(miss.status.map(String.init) ?? "no answer") at \(seconds(miss.at))", miss.id)
        }
        let posts = history.posts.compactMap { post -> Breach? in
            switch post.answer {
            case .accepted, .keyReused: return nil
            case .other, .none:
                guard lives(post.copy, until: post.answeredAt),
                    !(post.answer == .other(503) && isFrozen(from: post.sentAt, to: post.answeredAt))
                else { return nil }
                return Breach("a post of \(post.purchase) got \(post.answer) at \(seconds(post.answeredAt))")
            }
        }
        let acts = history.acts.compactMap { act -> Breach? in
            guard act.status != 202, act.status != 409, lives(act.copy, until: act.at),
                !(act.status == 503 && isFrozen(from: act.sentAt, to: act.at))
            else { return nil }
            return Breach("\(act.kind.rawValue) got \(act.status.map(String.init) ?? "no answer")", act.id)
        }
        return misses + posts + acts
    }
}

extension TimelineEvent.Kind {
    /// Status that a poll reports after this event alone. A superseded request has none, since it may have been
    /// rejected before.
    fileprivate var seen: ValidationStatus? {
        switch self {
        case .granted: .granted
        case .rejected, .abandoned: .rejected
        case .timedOut: .timedOut
        case .transferred: .transferred
        default: nil
        }
    }
}
