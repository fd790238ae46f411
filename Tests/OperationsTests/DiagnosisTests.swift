import RelayCore
import Testing

@testable import Relay

@Suite("The diagnosis")
struct DiagnosisTests {
    private func summary(
        _ state: InstanceReport.UpstreamState? = .ok, _ change: (inout OpsSummary) -> Void = { _ in }
    ) -> OpsSummary {
        let report = state.map {
            InstanceReport(
                state: $0, since: Timestamp(seconds: 1_800_000_000), lastError: "X-Publisher-Token is invalid")
        }
        var summary = OpsSummary(
            countsByStatus: [:], oldestPending: nil, upstream: report,
            backlog: .init(
                forwarding: 0, watching: 3, parked: 0, overdue: 0, oldestForwarding: nil, oldestParked: nil, outbox: 0),
            notifications: .init(waiting: 0, refused: 0, oldest: nil),
            webhooks: .init(waiting: 0, retrying: 0, oldest: nil, endpoints: 1, disabled: 0, failing: 0))
        change(&summary)
        return summary
    }

    @Test("is empty for a healthy service")
    func well() {
        let diagnosis = Diagnosis(summary())
        #expect(diagnosis.severity == .ok && diagnosis.findings.isEmpty)
    }

    @Test("lists first what delays access, with cause and advice")
    func upstream() {
        for (state, words) in [
            (InstanceReport.UpstreamState.misconfigured, ["refuses our token", "X-Publisher-Token is invalid"]),
            (.down, ["cannot be reached", "2027-01-15T08:00:00"]), (nil, ["No worker is running"]),
        ] {
            let diagnosis = Diagnosis(
                summary(state) {
                    $0.backlog.forwarding = 12
                    $0.backlog.oldestForwarding = .seconds(3_900)
                    $0.backlog.parked = 1
                })
            #expect(diagnosis.severity == .critical && diagnosis.findings.count == 2)
            let first = diagnosis.findings[0]
            for word in words + ["12 purchases wait, the oldest for 65 min"] {
                #expect(first.what.contains(word), "\(first)")
            }
            #expect(first.place == .waiting && !first.advice.isEmpty && diagnosis.findings[1].place == .parked)
        }
        #expect(Diagnosis(summary(.degraded)).severity == .warning)
    }

    @Test("reports that no call succeeds, as critical once a purchase waits for ten seconds")
    func degraded() {
        func diagnosis(_ age: Duration?, othersSucceed: Bool = false) -> Diagnosis {
            Diagnosis(
                summary(.degraded) {
                    $0.backlog.forwarding = age == nil ? 0 : 1
                    $0.backlog.oldestForwarding = age
                    $0.upstream?.othersSucceed = othersSucceed
                })
        }
        for (age, severity) in [(nil, .warning), (.seconds(9), .warning), (.seconds(10), .critical)]
            as [(Duration?, Diagnosis.Severity)]
        {
            #expect(diagnosis(age).findings.map(\.severity) == [severity])
            #expect(diagnosis(age).findings[0].what.hasPrefix("No call to Cleeng has succeeded since"))
        }
        let some = diagnosis(.seconds(30), othersSucceed: true)
        #expect(some.severity == .warning && some.findings[0].what.hasPrefix("Some calls to Cleeng fail"))
    }

    @Test("shows the age of a dead worker's last heartbeat")
    func lastSeen() {
        let gone = Diagnosis(summary(nil) { $0.workerSeen = .seconds(9) })
        #expect(gone.severity == .critical)
        #expect(gone.findings[0].what.contains("The last sign of life of one is 9 s old. No purchase waits."))
    }

    @Test("always reports a purchase that Cleeng has not accepted for a minute")
    func notTaken() {
        for state in [InstanceReport.UpstreamState.ok, .degraded, .down, .misconfigured, nil] {
            for othersSucceed in [true, false] {
                let diagnosis = Diagnosis(
                    summary(state) {
                        $0.backlog.forwarding = 1
                        $0.backlog.oldestForwarding = .seconds(60)
                        $0.upstream?.othersSucceed = othersSucceed
                    })
                #expect(diagnosis.severity == .critical, "\(state?.rawValue ?? "none")")
                #expect(diagnosis.findings.contains { $0.what.contains("1 purchase waits, the oldest for 60 s") })
            }
        }
    }

    @Test("names the missing parts of a damaged schema")
    func damaged() {
        let diagnosis = Diagnosis(summary { $0.missingTables = ["timeline"] })
        #expect(diagnosis.severity == .critical)
        #expect(diagnosis.findings[0].what.contains("the table timeline is missing"))
    }

    @Test("names the parked items of each queue, with their list")
    func parkedItems() {
        let diagnosis = Diagnosis(
            summary { $0.parkedItems = ParkedItems(counts: [.events: 2, .webhooks: 0, .subscriptions: 1]) })
        #expect(diagnosis.severity == .warning)
        #expect(diagnosis.findings.map(\.place) == [.parkedEvents, .parkedSubscriptions])
        #expect(diagnosis.findings.first?.what.hasPrefix("2 events of Cleeng's are parked") == true)
    }

    @Test("counts access that may be wrong, with its list")
    func access() {
        #expect(Diagnosis(summary { $0.accessProblems = [.unwatched: 0, .overdue: 0] }).findings.isEmpty)
        let diagnosis = Diagnosis(summary { $0.accessProblems = [.unwatched: 1, .overdue: 3] })
        #expect(diagnosis.severity == .warning)
        #expect(diagnosis.findings.map(\.place) == [.overdueAccess, .unwatchedAccess])
        #expect(diagnosis.findings.first?.what.hasPrefix("3 subscriptions are past their end") == true)
    }

    @Test("distinguishes missing workers from an outage of Cleeng")
    func overdue() {
        func late(_ state: InstanceReport.UpstreamState, _ age: Duration) -> Diagnosis {
            Diagnosis(
                summary(state) {
                    $0.backlog.overdue = 4
                    $0.backlog.forwarding = 4
                    $0.backlog.oldestForwarding = age
                })
        }
        #expect(late(.ok, .seconds(61)).findings.first?.what.contains("nobody takes them up") == true)
        #expect(late(.ok, .seconds(59)).findings.isEmpty)
        #expect(late(.down, .seconds(61)).findings.count == 1)
    }

    @Test("warns about failing endpoints and refused notifications")
    func telling() {
        let diagnosis = Diagnosis(
            summary {
                $0.webhooks.disabled = 1
                $0.webhooks.failing = 2
                $0.notifications.refused = 3
                $0.notifications.oldest = .seconds(3_601)
            })
        #expect(diagnosis.severity == .warning)
        #expect(diagnosis.findings.map(\.place) == [.endpoints, .webhooks, .notifications, .notifications])
        #expect(
            diagnosis.findings.prefix(2).map(\.what) == [
                "1 webhook endpoint is disabled: nothing is sent to it.", "2 webhook endpoints fail.",
            ])
    }

    @Test("uses the singular for one")
    func one() {
        let diagnosis = Diagnosis(
            summary {
                $0.webhooks.failing = 1
                $0.parkedItems = ParkedItems(counts: [.events: 1])
                $0.accessProblems = [.unwatched: 1, .overdue: 1]
            })
        let beginnings = [
            "1 webhook endpoint fails.", "1 event of Cleeng's is parked: it", "1 subscription is past its end and",
            "1 subscription is granted and nobody looks at it",
        ]
        for (finding, beginning) in zip(diagnosis.findings, beginnings) {
            #expect(finding.what.hasPrefix(beginning), "\(finding.what)")
        }
        #expect(diagnosis.findings.count == beginnings.count)
    }

    @Test("shows ages in words")
    func ages() {
        let spoken = [-1, 0, 119, 120, 7_199, 7_200, 172_799, 172_800].map { Duration.seconds($0).spoken }
        #expect(spoken == ["0 s", "0 s", "119 s", "2 min", "119 min", "2 h 0 min", "47 h 59 min", "2 d 0 h"])
    }
}
