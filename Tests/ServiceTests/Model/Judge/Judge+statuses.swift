import RelayCore

extension Model.Judge {
    /// Whether a validation that is `earlier` may become `later`, in one step or several.
    static func leads(_ earlier: ValidationStatus, to later: ValidationStatus) -> Bool {
        switch earlier {
        case .pending: true
        case .timedOut: later != .pending
        case .rejected: [.rejected, .granted, .transferred].contains(later)
        case .granted: later == .granted || later == .transferred
        case .transferred: later == .transferred
        case .revoked: later == .revoked
        }
    }

    var statusesGoWhereTheyMay: [Breach] {
        history.rows.compactMap { row in
            var status = ValidationStatus.pending
            var isRetried = false
            for event in events[row.id] ?? [] {
                let next: ValidationStatus
                switch event.kind {
                case .retried:
                    isRetried = true
                    continue
                case .superseded: next = status == .rejected ? .rejected : .timedOut
                case .abandoned: next = .rejected
                default:
                    guard let told = event.kind.status else { continue }
                    next = told
                }
                guard allows(status, next, event.kind, isRetried: isRetried, isTried: mayHaveBeenTried(row)) else {
                    return Breach(
                        "\(row.purchase) went from \(status.name) to \(next.name) at \(seconds(event.at))", row.id)
                }
                // A superseded request is still watched, and an operator's retry still counts.
                if next == .rejected, event.kind != .superseded { isRetried = false }
                status = next
            }
            guard status == row.status else {
                return Breach("\(row.purchase) is \(row.status.name), its timeline ends \(status.name)", row.id)
            }
            return nil
        }
    }

    private func allows(
        _ from: ValidationStatus, _ to: ValidationStatus, _ kind: TimelineEvent.Kind, isRetried: Bool, isTried: Bool
    ) -> Bool {
        switch (from, to) {
        case (.pending, .granted), (.pending, .rejected), (.pending, .timedOut): true
        case (.timedOut, .granted), (.timedOut, .rejected): true
        case (.timedOut, .timedOut): kind == .superseded
        case (.rejected, .rejected): kind == .superseded || isRetried
        // An operator sent it again, or the refused call was not the first try and so the purchase was watched.
        case (.rejected, .granted): isRetried || isTried
        case (.granted, .transferred): true
        default: false
        }
    }

    /// Whether Cleeng may have got more than one try: several are known, or a copy stopped and may have made one.
    private func mayHaveBeenTried(_ row: Model.Row) -> Bool {
        history.forwards.count { $0.coupon == row.coupon } > 1
            || !history.freezes.isEmpty || history.copies.contains { $0.goneAt != nil }
    }

    var lateIsTrue: [Breach] {
        history.rows.filter { $0.status == .granted }.compactMap { row in
            guard let settledAt = row.settledAt else { return Breach("\(row.purchase) is granted at no time", row.id) }
            let isLate = settledAt >= row.deadline || timedOutEarly(row.id)
            guard row.late != isLate else { return nil }
            return Breach("\(row.purchase) is\(row.late ? "" : " not") late", row.id)
        }
    }

    /// Whether a newer request ended its wait before the deadline. A rejected request stays rejected.
    private func timedOutEarly(_ id: String) -> Bool {
        var isRejected = false
        for event in events[id] ?? [] {
            switch event.kind {
            case .rejected, .abandoned: isRejected = true
            case .superseded where !isRejected: return true
            case .timedOut, .granted: isRejected = false
            default: continue
            }
        }
        return false
    }

    var rejectionsHaveEvidence: [Breach] {
        history.events.compactMap { event in
            guard let row = rows[event.id] else { return nil }
            switch event.kind {
            case .rejected:
                let isRefused = history.forwards.contains {
                    $0.coupon == row.coupon && $0.isRejected && $0.startedAt <= event.at + slack
                }
                return isRefused ? nil : Breach("\(row.purchase) is rejected, and Cleeng never refused it", row.id)
            case .abandoned, .retried:
                let kind: Model.Act.Kind = event.kind == .retried ? .retry : .abandon
                let isActed = history.acts.contains { $0.kind == kind && $0.id == row.id && $0.status != 409 }
                return isActed ? nil : Breach("\(row.purchase) is \(event.kind.name) by nobody", row.id)
            default: return nil
            }
        }
    }

    var supersededByNewer: [Breach] {
        history.rows.filter { has(.superseded, $0.id) }.compactMap { row in
            let newer = history.rows.contains {
                $0.purchase.subscription == row.purchase.subscription && $0.acceptedAt > row.acceptedAt
            }
            return newer ? nil : Breach("\(row.purchase) is superseded by nothing", row.id)
        }
    }
}

extension TimelineEvent.Kind {
    /// Status that an event alone determines.
    fileprivate var status: ValidationStatus? {
        switch self {
        case .granted: .granted
        case .rejected: .rejected
        case .timedOut: .timedOut
        case .transferred: .transferred
        case .revoked: .revoked
        default: nil
        }
    }
}
