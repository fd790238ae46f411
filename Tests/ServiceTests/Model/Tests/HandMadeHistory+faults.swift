import RelayCore

extension Model.History {
    /// The good history, changed to violate one truth.
    static func breaking(_ truth: Model.Truth) -> Model.History {
        var history = good
        history.spoil(truth)
        return history
    }

    private mutating func spoil(_ truth: Model.Truth) {
        switch truth {
        case .acceptedIsKept: rows.removeAll { $0.id == "d" }
        case .acceptedIsSettled: forwards.removeAll { $0.coupon == "post-d" }
        case .onePurchaseOneValidation:
            let again = Model.Post.made(rows[0].purchase, "post-e", at: 1.2, .accepted(id: "e", status: 202))
            posts.append(again)
            rows.append(.made("e", again, .granted, settledAt: 1.41))
        case .keyNamesOne: posts[3].answer = .accepted(id: "d", status: 200)
        case .statusesGoWhereTheyMay: events.append(.made("c", .granted, at: 3.5))
        case .neverBack: sightings.append(.made("a", "plain", 11, at: 1.7, .pending))
        case .neverStale: sightings.append(.made("a", "other", 12, at: 4.5, .granted))
        case .deadlineHolds: sightings.append(.made("d", "other", 12, at: 5.515, .pending))
        case .heldPollsWake: sightings.append(.made("a", "held", 12, kind: .held, at: 1.1, until: 3, .granted))
        case .copiesAnswer: misses.append(.init(id: "a", copy: 11, sentAt: 2, at: 2.01, status: 500))
        case .grantsHaveEvidence: grants.removeAll { $0.customer == 1 }
        case .rejectionsHaveEvidence: forwards[2].status = 200
        case .supersededByNewer: events.append(.made("d", .superseded, at: 5.6))
        case .lateIsTrue: rows[1].late = true
        case .oneOwner: events.removeAll { $0.kind == .transferred }
        case .newestOwns: owners[0] = .init(subscription: 0, customer: 0, id: "a")
        case .forwardsInOrder: forwards.append(.made(rows[0], at: 2.5, status: 500))
        case .oneForwardAtOnce: forwards[0].overlapped = true
        case .forwardedOnce: forwards.append(.made(rows[3], at: 4))
        case .readsAreSpaced: reads += [1.41, 1.42].map { .init(customer: 0, startedAt: $0, endedAt: $0 + 0.01) }
        case .endAgrees: grants.append(.init(at: 4, subscription: 2, customer: 0))
        }
    }
}
