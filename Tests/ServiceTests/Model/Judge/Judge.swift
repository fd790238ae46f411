import RelayCore

extension Model {
    /// Checks a history against the truths. Pure: the same history always has the same violations.
    struct Judge: Sendable {
        let history: History
        let rows: [String: Row]
        let events: [String: [Event]]
        let rowsByCoupon: [String: Row]

        init(_ history: History) {
            self.history = history
            rows = Dictionary(history.rows.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
            events = Dictionary(grouping: history.events, by: \.id)
            rowsByCoupon = Dictionary(history.rows.map { ($0.coupon, $0) }, uniquingKeysWith: { $1 })
        }

        static func violations(of history: History) -> [Violation] {
            let judge = Judge(history)
            return Truth.allCases.flatMap { truth in
                judge.breaches(of: truth).map { Violation(truth: truth, what: $0.what, ids: $0.ids) }
            }
        }

        struct Breach {
            var what: String
            var ids: [String]

            init(_ what: String, _ ids: String...) {
                self.what = what
                self.ids = ids
            }
        }

        func breaches(of truth: Truth) -> [Breach] {
            switch truth {
            case .acceptedIsKept: acceptedIsKept
            case .acceptedIsSettled: acceptedIsSettled
            case .onePurchaseOneValidation: onePurchaseOneValidation
            case .keyNamesOne: keyNamesOne
            case .statusesGoWhereTheyMay: statusesGoWhereTheyMay
            case .neverBack: neverBack
            case .neverStale: neverStale
            case .deadlineHolds: deadlineHolds
            case .heldPollsWake: heldPollsWake
            case .copiesAnswer: copiesAnswer
            case .grantsHaveEvidence: grantsHaveEvidence
            case .rejectionsHaveEvidence: rejectionsHaveEvidence
            case .supersededByNewer: supersededByNewer
            case .lateIsTrue: lateIsTrue
            case .oneOwner: oneOwner
            case .newestOwns: newestOwns
            case .forwardsInOrder: forwardsInOrder
            case .oneForwardAtOnce: oneForwardAtOnce
            case .forwardedOnce: forwardedOnce
            case .readsAreSpaced: readsAreSpaced
            case .endAgrees: endAgrees
            }
        }

        /// Largest difference between two processes' times of one moment.
        var slack: Seconds { 0.25 + 2 * history.stall }

        /// Whether a copy lived until a call's end.
        func lives(_ pid: Int32, until at: Seconds) -> Bool {
            guard let gone = history.copies.first(where: { $0.pid == pid })?.goneAt else { return true }
            return at < gone - 0.05
        }

        /// Whether this copy, or any copy if `nil`, was frozen in this interval or in the second before it.
        func isFrozen(_ pid: Int32? = nil, from: Seconds, to: Seconds) -> Bool {
            history.freezes.contains { ($0.pid == pid || pid == nil) && $0.from <= to && $0.to + 1 >= from }
        }

        /// Time from which others can see what was recorded then. A copy that is frozen inside a transaction delays
        /// others.
        func visible(_ recordedAt: Seconds) -> Seconds {
            history.freezes.filter { $0.from - 1 <= recordedAt && recordedAt <= $0.to }.map(\.to).max() ?? recordedAt
        }

        func seconds(_ value: Seconds) -> String { "\((value * 1_000).rounded() / 1_000) s" }
    }
}
