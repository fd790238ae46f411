import RelayCore

extension Model.History {
    /// A small history in which every truth holds. Ana (c0) and then Ben (c1) get s0. One purchase is refused under a
    /// key, one is never granted.
    static var good: Model.History {
        var history = Model.History()
        history.copies = [.init(pid: 11, slot: 0, readyAt: 0), .init(pid: 12, slot: 1, readyAt: 0)]
        history.posts = [
            .made(.init(customer: 0, subscription: 0, receipt: 0), "post-a", at: 1, .accepted(id: "a", status: 202)),
            .made(.init(customer: 1, subscription: 0, receipt: 0), "post-b", at: 2, .accepted(id: "b", status: 202)),
            .made(refused, "key-c", key: 1, at: 3, .accepted(id: "c", status: 202)),
            .made(refused, "key-c", key: 1, at: 3.5, .accepted(id: "c", status: 200)),
            .made(.init(customer: 1, subscription: 1, receipt: 0), "key-x", key: 1, at: 3.6, .keyReused),
            .made(.init(customer: 0, subscription: 2, receipt: 0), "post-d", at: 3, .accepted(id: "d", status: 202)),
        ]
        history.rows = [
            .made("a", history.posts[0], .transferred, settledAt: 2.405),
            .made("b", history.posts[1], .granted, settledAt: 2.4),
            .made("c", history.posts[2], .rejected, settledAt: 3.06),
            .made("d", history.posts[5], .timedOut, settledAt: 5.51, phase: .watching),
        ]
        history.forwards = [
            .made(history.rows[0], at: 1.05), .made(history.rows[1], at: 2.05),
            .made(history.rows[2], at: 3.05, status: 400), .made(history.rows[3], at: 3.05),
        ]
        history.reads = [(0, 1.03), (0, 1.07), (0, 1.4), (1, 2.03), (1, 2.07), (1, 2.38), (0, 3.03), (0, 3.07)]
            .map { .init(customer: $0.0, startedAt: $0.1, endedAt: $0.1 + 0.01) }
        history.grants = [
            .init(at: 1.2, subscription: 0, customer: 0), .init(at: 2.05, subscription: 0, customer: 1),
        ]
        history.events = [
            .made("a", .forwarded, at: 1.06), .made("a", .granted, at: 1.41), .made("a", .transferred, at: 2.405),
            .made("b", .granted, at: 2.4), .made("c", .rejected, at: 3.06), .made("d", .timedOut, at: 5.51),
        ]
        history.owners = [.init(subscription: 0, customer: 1, id: "b")]
        history.transfers = [.init(subscription: 0, from: 0, to: 1, fromID: "a", toID: "b", at: 2.405)]
        for (client, copy) in [("plain", Int32(11)), ("conditional", 12)] {
            history.sightings += [
                .made("a", client, copy, at: 1.1, .pending), .made("a", client, copy, at: 1.6, .granted),
                .made("a", client, copy, at: 2.6, .transferred), .made("b", client, copy, at: 2.6, .granted),
                .made("c", client, copy, at: 3.2, .rejected), .made("d", client, copy, at: 5.4, .pending),
                .made("d", client, copy, at: 5.6, .timedOut),
            ]
        }
        history.sightings.append(.made("a", "held", 12, kind: .held, at: 1.1, until: 1.43, .granted))
        return history
    }

    static let refused = Model.Purchase(customer: 0, subscription: 1, receipt: 0)
}

extension Model.Post {
    static func made(
        _ purchase: Model.Purchase, _ coupon: String, key: Int? = nil, at: Model.Seconds, _ answer: Answer
    ) -> Self {
        .init(
            purchase: purchase, coupon: coupon, key: key, copy: 11, sentAt: at, answeredAt: at + 0.02, answer: answer)
    }
}

extension Model.Row {
    /// A row that was accepted 10 ms after its post.
    static func made(
        _ id: String, _ post: Model.Post, _ status: ValidationStatus, settledAt: Model.Seconds,
        phase: Pursuit.Phase? = nil
    ) -> Self {
        let acceptedAt = post.sentAt + 0.01
        return .init(
            id: id, purchase: post.purchase, coupon: post.coupon, acceptedAt: acceptedAt, deadline: acceptedAt + 2.5,
            settledAt: settledAt, status: status, phase: phase)
    }
}

extension Model.Forward {
    static func made(_ row: Model.Row, at: Model.Seconds, status: Int = 200) -> Self {
        .init(
            coupon: row.coupon, customer: row.purchase.customer, subscription: row.purchase.subscription,
            startedAt: at, endedAt: at + 0.01, status: status, outcome: "answered", overlapped: false)
    }
}

extension Model.Event {
    static func made(_ id: String, _ kind: TimelineEvent.Kind, at: Model.Seconds) -> Self {
        .init(id: id, kind: kind, at: at, recordedAt: at + 0.005)
    }
}

extension Model.Sighting {
    static func made(
        _ id: String, _ client: String, _ copy: Int32, kind: Kind = .plain, at: Model.Seconds,
        until: Model.Seconds? = nil, _ status: ValidationStatus
    ) -> Self {
        .init(id: id, client: client, copy: copy, kind: kind, sentAt: at, at: until ?? at + 0.01, status: status)
    }
}
