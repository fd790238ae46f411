import RelayCore

/// Result of checking the evidence against each promise. Pure: tests check it with made-up evidence.
struct Judgement: Sendable {
    /// Numbers of accepted validations: all, those that are over for their app, those that the upstream answered with
    /// 2xx, and those that were overtaken and so rightly never sent.
    private(set) var accepted = 0
    private(set) var settled = 0
    private(set) var reached = 0
    private(set) var superseded = 0
    private(set) var late = 0
    private(set) var forwards = 0
    private(set) var overlaps = 0
    private(set) var disorders = 0
    private(set) var subscriptions = 0
    /// Number of subscriptions that have the same single owner everywhere.
    private(set) var owned = 0
    /// Subscriptions with several owners, or another one than the newest request's customer.
    private(set) var disputed: Set<String> = []
    /// A line for each violation.
    private(set) var violations: [String] = []

    var lost: Int { accepted - min(settled, reached + superseded) }

    init(_ evidence: Evidence) {
        forwards = evidence.forwards.count
        judgePurchases(evidence)
        judgeForwards(evidence)
        judgeOwners(evidence)
    }

    // MARK: Nothing lost, nothing twice

    private mutating func judgePurchases(_ evidence: Evidence) {
        let stored = Dictionary(grouping: evidence.validations, by: \.transaction)
        let answered = Set(evidence.forwards.filter { (200..<300).contains($0.status ?? 0) }.map(\.post))
        violations += evidence.oddAnswers
        for transaction in evidence.refused {
            violations.append("\(transaction) got no 202, however long its app tried")
        }
        for (transaction, ids) in evidence.accepted {
            accepted += ids.count
            let known = Set((stored[transaction] ?? []).map(\.id))
            for _ in ids.subtracting(known) {
                violations.append("\(transaction) is lost: it had a 202 and is not in the database")
            }
        }
        for (transaction, validations) in stored {
            for (earlier, later) in zip(validations, validations.dropFirst())
            where earlier.endedAt.map({ $0 > later.acceptedAt }) ?? true {
                violations.append("\(transaction) has a second validation, and the first was not over")
            }
            let ids = evidence.accepted[transaction] ?? []
            for validation in validations {
                judge(
                    validation, isAnswered: answered.contains(validation.post), isCounted: ids.contains(validation.id))
                if let at = validation.settledAt, at < validation.acceptedAt || at > evidence.gatheredAt {
                    violations.append("\(transaction) was settled at a time that has not been")
                }
                guard ids.contains(validation.id) else { continue }
                let told = evidence.told[validation.id]
                let before = evidence.before[validation.id] ?? validation.status
                if told != validation.status.name, told != before.name {
                    violations.append(
                        "\(transaction) is \(validation.status.name), and its app is told \(told ?? "nothing")")
                }
            }
        }
    }

    /// - Parameter isCounted: whether an app knows its id. The other checks apply to every validation.
    private mutating func judge(_ validation: Evidence.Validation, isAnswered: Bool, isCounted: Bool) {
        let name = validation.transaction
        if isAnswered, isCounted { reached += 1 }
        if validation.isLate { late += 1 }
        if validation.wasSuperseded, !isAnswered, isCounted { superseded += 1 }
        if !isAnswered, !validation.wasSuperseded { violations.append("\(name) is lost: the upstream never took it") }
        switch validation.status {
        case .granted, .transferred, .timedOut: if isCounted { settled += 1 }
        case .pending, .rejected, .revoked: violations.append("\(name) is \(validation.status.name)")
        }
    }

    // MARK: One at a time, in order

    private mutating func judgeForwards(_ evidence: Evidence) {
        overlaps = evidence.forwards.count { $0.overlapped }
        if overlaps > 0 { violations.append("\(overlaps) forwards overlapped with one of the same purchase") }
        let byPost = Dictionary(evidence.validations.map { ($0.post, $0) }, uniquingKeysWith: { first, _ in first })
        var newest: [String: Evidence.Validation] = [:]
        for forward in evidence.forwards {
            guard let validation = byPost[forward.post] else {
                violations.append("\(forward.post) was sent, and is not in the database")
                continue
            }
            if let sent = newest[forward.subscription], sent.acceptedAt > validation.acceptedAt {
                disorders += 1
                violations.append("\(validation.transaction) was sent after \(sent.transaction), which is newer")
            } else {
                newest[forward.subscription] = validation
            }
        }
        let acceptedAt = Dictionary(evidence.validations.map { ($0.id, $0.acceptedAt) }, uniquingKeysWith: { $1 })
        for sequence in evidence.sequences {
            for (earlier, later) in zip(sequence, sequence.dropFirst()) {
                guard let first = acceptedAt[earlier], let second = acceptedAt[later], first >= second else { continue }
                disorders += 1
                violations.append("\(earlier) had its 202 before \(later) was posted, and counts as the newer one")
            }
        }
    }

    // MARK: One owner

    private mutating func judgeOwners(_ evidence: Evidence) {
        let ours = Dictionary(grouping: evidence.ours, by: \.subscription)
        let upstreams = Dictionary(grouping: evidence.upstreams, by: \.subscription)
        for (subscription, validations) in Dictionary(grouping: evidence.validations, by: \.subscription) {
            subscriptions += 1
            let newest = validations.max { $0.acceptedAt < $1.acceptedAt }
            var claims: [(String, [String])] = [
                ("the newest request is of", [newest?.customer].compactMap { $0 }),
                ("granted to", Set(validations.filter { $0.status == .granted }.map(\.customer)).sorted()),
                ("owned, for us, by", (ours[subscription] ?? []).map(\.customer)),
            ]
            // Only the relay knows the name of a grant without a subscription.
            if !subscription.contains("#") {
                claims.append(("owned, for the upstream, by", (upstreams[subscription] ?? []).map(\.customer)))
            }
            if Set(claims.map(\.1)).count == 1, claims[0].1.count == 1 {
                owned += 1
            } else {
                let words = claims.map { "\($0.0) \($0.1.isEmpty ? "nobody" : $0.1.joined(separator: " and "))" }
                violations.append("subscription \(subscription): \(words.joined(separator: "; "))")
                disputed.insert(subscription)
            }
        }
    }
}
