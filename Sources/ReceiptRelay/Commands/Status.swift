import ArgumentParser
import RelayCore
import RelayStore

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says whether customers are losing purchases, why, and what to do.",
        discussion: "Exits 0 where all is well, 1 where something needs a look, 2 where customers get no access now.")

    @Flag(help: "As JSON.")
    var json = false

    @OptionGroup var option: ConfigurationOption

    /// The command for whoever wants to see the rows.
    private static func command(_ place: Diagnosis.Place?) -> String? {
        switch place {
        case .waiting: "receipt-relay validations list --waiting"
        case .parked: "receipt-relay validations list --parked"
        case .webhooks: "receipt-relay webhooks deliveries --state waiting"
        case .endpoints: "receipt-relay webhooks list"
        case .notifications: "receipt-relay notifications list --status pending"
        case .parkedEvents: "receipt-relay events list --status parked"
        case .parkedWebhooks: "receipt-relay webhooks deliveries --state parked"
        case .parkedNotifications: "receipt-relay notifications list --status parked"
        case .parkedSubscriptions: "receipt-relay subscriptions list --parked"
        case .unwatchedAccess: "receipt-relay subscriptions list --problem unwatched"
        case .overdueAccess: "receipt-relay subscriptions list --problem overdue"
        case nil: nil
        }
    }

    func run() async throws {
        let (summary, copies) = try await DatabaseSession.run(option) { store in
            (try await store.summary(isCounting: false, in: .all), try await store.runningCopies(in: .all))
        }
        let diagnosis = Diagnosis(summary)
        if json {
            try JSONOutput.write(StatusOutput(diagnosis, summary))
        } else {
            print(Hue.bold.around(diagnosis.headline))
            for finding in diagnosis.findings {
                let hue: Hue = finding.severity == .critical ? .red : .yellow
                print("\n\(hue.around(finding.severity.rawValue.uppercased()))  \(Table.plain(finding.what))")
                print("  \(finding.advice)")
                if let command = Self.command(finding.place) { print("  Show them: \(command)") }
            }
            let backlog = summary.backlog
            print("")
            Table(columns: ["COPY", "ROLE", "STARTED", "LAST SEEN", "CLEENG"]).write(
                copies.map {
                    [$0.id, $0.role, $0.startedAt.rfc3339, "\($0.lastSeen.spoken) ago", $0.upstreamText ?? "-"]
                })
            print("")
            Table(columns: [
                "NOT TAKEN BY CLEENG", "ACCESS WAITED FOR", "OVERDUE", "PARKED", "WEBHOOKS", "NOTIFICATIONS",
            ])
            .write([
                [
                    "\(backlog.forwarding)", "\(backlog.watching)", "\(backlog.overdue)", "\(backlog.parked)",
                    "\(summary.webhooks.waiting)", "\(summary.notifications.waiting)",
                ]
            ])
        }
        switch diagnosis.severity {
        case .ok: return
        case .warning: throw ExitCode(1)
        case .critical: throw ExitCode(2)
        }
    }
}

private struct StatusOutput: Encodable {
    struct Finding: Encodable {
        var severity: String
        var what: String
        var advice: String
        var place: String?
    }

    var severity: String
    var headline: String
    var findings: [Finding]
    var upstream: String
    var workerSeenSeconds: Int64?
    var missingTables: [String]
    var forwarding: Int
    var watching: Int
    var overdue: Int
    var parked: Int

    init(_ diagnosis: Diagnosis, _ summary: OpsSummary) {
        severity = diagnosis.severity.rawValue
        headline = diagnosis.headline
        findings = diagnosis.findings.map {
            Finding(severity: $0.severity.rawValue, what: $0.what, advice: $0.advice, place: $0.place?.rawValue)
        }
        upstream = summary.upstream?.state.rawValue ?? "down"
        workerSeenSeconds = summary.workerSeen.map { max($0.components.seconds, 0) }
        missingTables = summary.missingTables
        forwarding = summary.backlog.forwarding
        watching = summary.backlog.watching
        overdue = summary.backlog.overdue
        parked = summary.backlog.parked
    }
}
