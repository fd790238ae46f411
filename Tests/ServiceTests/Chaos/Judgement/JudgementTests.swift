import RelayCore
import Testing

/// Tests of ``Judgement`` with made-up evidence of each violation.
@Suite struct JudgementTests {
    /// Good evidence: one subscription of Ana's and then Ben's, and one of Cia's.
    private static func good() -> Evidence {
        func validation(_ name: String, _ subscription: String, _ at: Int64, _ status: ValidationStatus)
            -> Evidence.Validation
        {
            .init(
                id: "\(at)", post: name, transaction: name, subscription: subscription, customer: name, acceptedAt: at,
                settledAt: at + 100, status: status)
        }
        return Evidence(
            accepted: ["ana": ["1"], "ben": ["2"], "cia": ["3"]], posts: 4, sequences: [["1", "2"]],
            told: ["1": "transferred", "2": "granted", "3": "granted"],
            validations: [
                validation("ana", "s", 1, .transferred), validation("ben", "s", 2, .granted),
                validation("cia", "t", 3, .granted),
            ],
            forwards: [
                .init(post: "ana", subscription: "s", status: nil),
                .init(post: "ana", subscription: "s", status: 200),
                .init(post: "ben", subscription: "s", status: 200),
                .init(post: "cia", subscription: "t", status: 200),
            ],
            ours: [.init(subscription: "s", customer: "ben"), .init(subscription: "t", customer: "cia")],
            upstreams: [.init(subscription: "s", customer: "ben"), .init(subscription: "t", customer: "cia")])
    }

    private static func violations(_ change: (inout Evidence) -> Void) -> [String] {
        var evidence = good()
        change(&evidence)
        return Judgement(evidence).violations
    }

    @Test func goodEvidenceHasNoViolations() {
        let judgement = Judgement(Self.good())
        #expect(judgement.violations == [])
        #expect(judgement.accepted == 3 && judgement.settled == 3 && judgement.reached == 3 && judgement.lost == 0)
        #expect(judgement.owned == 2 && judgement.subscriptions == 2)
    }

    @Test func lossIsSeen() {
        #expect(Self.violations { $0.validations.removeLast() }.contains { $0.contains("cia is lost") })
        #expect(Self.violations { $0.forwards.removeLast() } == ["cia is lost: the upstream never took it"])
        #expect(Self.violations { $0.forwards[3].status = 500 } == ["cia is lost: the upstream never took it"])
        #expect(Self.violations { $0.refused = ["dan"] }.count == 1)
        #expect(Self.violations { $0.oddAnswers = ["dan was answered 500"] }.count == 1)
        for status in [ValidationStatus.pending, .rejected, .revoked] {
            let found = Self.violations {
                $0.validations[2].status = status
                $0.told["3"] = status.name
            }
            #expect(found.contains("cia is \(status.name)"))
        }
        // An older request of a subscription may end as timed out, the newest may not.
        #expect(
            Self.violations {
                $0.validations[0].status = .timedOut
                $0.told["1"] = "timed_out"
            } == [])
        #expect(
            Self.violations {
                $0.validations[2].status = .timedOut
                $0.told["3"] = "timed_out"
            }.count == 1)
    }

    @Test func aSupersededPurchaseNeedNotHaveBeenSent() {
        var evidence = Self.good()
        evidence.forwards.removeFirst(2)
        evidence.validations[0].status = .timedOut
        evidence.told["1"] = "timed_out"
        #expect(Judgement(evidence).violations.count == 1)
        evidence.validations[0].wasSuperseded = true
        let judgement = Judgement(evidence)
        #expect(judgement.violations == [] && judgement.superseded == 1 && judgement.lost == 0)
    }

    @Test func doublesAreSeen() {
        #expect(Self.violations { $0.forwards[1].overlapped = true }.count == 1)
        #expect(Self.violations { $0.accepted["cia"] = ["3", "4"] }.contains { $0.contains("cia is lost") })
        #expect(Self.second { $0.endedAt = nil } == ["cia has a second validation, and the first was not over"])
        #expect(Self.second { $0.endedAt = 5 } == ["cia has a second validation, and the first was not over"])
    }

    /// Violations if Cia posts again at 4, after a validation that `change` may end.
    private static func second(_ change: (inout Evidence.Validation) -> Void) -> [String] {
        violations { evidence in
            var again = evidence.validations[2]
            (again.id, again.post, again.acceptedAt) = ("4", "cia again", 4)
            change(&evidence.validations[2])
            evidence.validations.append(again)
            evidence.forwards.append(.init(post: "cia again", subscription: "t", status: 200))
            evidence.accepted["cia"] = ["3", "4"]
            evidence.told["4"] = "granted"
        }
    }

    @Test func aPurchaseMayGetASecondValidationAfterTheFirst() { #expect(Self.second { $0.endedAt = 4 } == []) }

    @Test func aWrongTimeIsSeen() {
        #expect(Self.violations { $0.gatheredAt = 50 }.count == 3)
        #expect(Self.violations { $0.validations[2].settledAt = 1 }.count == 1)
    }

    @Test func disorderIsSeen() {
        #expect(
            Self.violations { $0.forwards.append($0.forwards[0]) } == ["ana was sent after ben, which is newer"])
        #expect(Self.violations { $0.sequences = [["2", "1"]] }.count == 1)
        #expect(Self.violations { $0.forwards[3].post = "eve" }.contains { $0.contains("eve was sent") })
    }

    @Test func twoOwnersAreSeen() {
        #expect(Self.violations { $0.ours[0].customer = "ana" }.count == 1)
        #expect(Self.violations { $0.ours.append(.init(subscription: "s", customer: "ana")) }.count == 1)
        #expect(Self.violations { $0.upstreams.removeFirst() }.count == 1)
        let found = Self.violations {
            $0.validations[0].status = .granted
            $0.told["1"] = "granted"
        }
        #expect(found.count == 1 && found[0].contains("granted to ana and ben"))
        // A grant without a subscription is unknown to the upstream, and still has one owner.
        let alone = Evidence.Owner(subscription: "t#3", customer: "cia")
        func violations(ours: [Evidence.Owner]) -> [String] {
            Self.violations {
                $0.validations[2].subscription = "t#3"
                $0.ours = [$0.ours[0]] + ours
                $0.upstreams.removeLast()
            }
        }
        #expect(violations(ours: [alone]).isEmpty && violations(ours: []).count == 1)
    }

    @Test func anAppThatIsToldSomethingElseIsSeen() {
        #expect(Self.violations { $0.told["3"] = "timed_out" }.count == 1)
        #expect(Self.violations { $0.told["3"] = nil }.count == 1)
        // The status before the poll is right too.
        #expect(
            Self.violations {
                $0.told["3"] = "timed_out"
                $0.before["3"] = .timedOut
            } == [])
    }
}
