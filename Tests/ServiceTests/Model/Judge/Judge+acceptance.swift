import RelayCore

extension Model.Judge {
    private var accepted: [(post: Model.Post, id: String)] {
        history.posts.compactMap { post in
            guard case .accepted(let id, _) = post.answer else { return nil }
            return (post, id)
        }
    }

    var acceptedIsKept: [Breach] {
        let lost = accepted.compactMap { post, id -> Breach? in
            guard let row = rows[id] else { return Breach("\(post.purchase) was accepted and is not there", id) }
            guard row.purchase == post.purchase else {
                return Breach("\(post.purchase) was accepted as \(row.purchase)", id)
            }
            return nil
        }
        let posted = Set(history.posts.map { "\($0.purchase) \($0.coupon)" })
        let invented = history.rows.filter { !posted.contains("\($0.purchase) \($0.coupon)") }
            .map { Breach("nobody posted \($0.purchase) with \($0.coupon)", $0.id) }
        let unknown = history.misses.filter { $0.status == 404 }
            .map { Breach("at \(seconds($0.at)) its id was unknown", $0.id) }
        return lost + invented + unknown
    }

    var acceptedIsSettled: [Breach] {
        history.rows.compactMap { row in
            if row.status == .pending { return Breach("\(row.purchase) is pending in the end", row.id) }
            if let phase = row.phase, phase != .watching {
                return Breach("\(row.purchase) is \(phase) in the end", row.id)
            }
            let isEnded = has(.superseded, row.id) || has(.abandoned, row.id)
            let isSent = history.forwards.contains { $0.coupon == row.coupon && ($0.isProcessed || $0.isRejected) }
            return isEnded || isSent ? nil : Breach("\(row.purchase) never reached Cleeng", row.id)
        }
    }

    var onePurchaseOneValidation: [Breach] {
        var breaches: [Breach] = []
        for rows in Dictionary(grouping: history.rows, by: \.purchase).values {
            let rows = rows.sorted { $0.acceptedAt < $1.acceptedAt }
            for (old, new) in zip(rows, rows.dropFirst()) {
                let at = new.acceptedAt
                if lives(old).contains(where: { $0.from <= at && $0.to >= at + slack }) {
                    breaches.append(
                        Breach("\(new.purchase) got a second validation in the life of the first", old.id, new.id))
                }
            }
        }
        // A post without a key gets the newest validation known by then.
        for (post, id) in accepted where post.key == nil {
            guard let row = rows[id] else { continue }
            for (earlier, newer) in accepted where earlier.answeredAt < post.sentAt && earlier.purchase == post.purchase
            {
                if let other = rows[newer], other.acceptedAt > row.acceptedAt {
                    breaches.append(Breach("\(post.purchase) was answered with a validation that is over", id, newer))
                }
            }
        }
        return breaches
    }

    /// Intervals in which a validation is its purchase's current one: while it is pending, and while it is granted.
    private func lives(_ row: Model.Row) -> [(from: Model.Seconds, to: Model.Seconds)] {
        var lives: [(from: Model.Seconds, to: Model.Seconds)] = []
        var since: Model.Seconds? = row.acceptedAt
        // Only a grant begins a new interval. A request that timed out may be overtaken later and is still over.
        for event in events[row.id] ?? [] where event.kind.rawValue < 10 && event.kind != .renewed {
            guard event.kind == .granted else {
                if let began = since {
                    lives.append((began, event.kind == .timedOut ? min(event.at, row.deadline) : event.at))
                }
                since = nil
                continue
            }
            // The commit follows the write, which may follow the decision by long.
            let seen = max(event.at, event.recordedAt) + slack
            if since == row.acceptedAt, seen > row.deadline {
                // Decided in time and written after the deadline. Until the write, apps read `timed_out`.
                lives.append((row.acceptedAt, row.deadline))
                since = seen
            } else if since == nil {
                since = seen
            }
        }
        if let since { lives.append((since, row.status == .pending ? row.deadline : .infinity)) }
        return lives
    }

    var keyNamesOne: [Breach] {
        var breaches: [Breach] = []
        for (key, posts) in Dictionary(grouping: history.posts.filter { $0.key != nil }, by: { $0.key ?? 0 }) {
            var first: (id: String, purchase: Model.Purchase)?
            for post in posts.sorted(by: { $0.answeredAt < $1.answeredAt }) {
                switch post.answer {
                case .accepted(let id, _):
                    if let first, first.id != id || first.purchase != post.purchase {
                        breaches.append(Breach("key \(key) names two", first.id, id))
                    }
                    first = first ?? (id, post.purchase)
                case .keyReused:
                    let others = posts.filter { $0.purchase != post.purchase && $0.sentAt < post.answeredAt }
                    if others.isEmpty { breaches.append(Breach("key \(key) was refused to its own \(post.purchase)")) }
                case .other, .none: break
                }
            }
        }
        let coupons = Dictionary(grouping: history.rows, by: \.coupon).filter { $0.value.count > 1 }
        return breaches + coupons.map { Breach("\($0.key) made \($0.value.count) validations", $0.value[0].id) }
    }

    func has(_ kind: TimelineEvent.Kind, _ id: String) -> Bool {
        events[id]?.contains { $0.kind == kind } == true
    }
}
