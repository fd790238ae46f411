import ArgumentParser
import Formats
import Relay

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says whether customers are losing purchases, why, and what to do.",
        discussion: "Exits 0 where all is well, 1 where something needs a look, 2 where customers get no access now.")

    @Flag(help: "As JSON.")
    var json = false

    @OptionGroup var option: ConfigurationOption

    /// The command that lists a finding's rows.
    private static func command(_ place: Diagnosis.Place?) -> String? {
        switch place {
        case .waiting: "receipt-relay validations list --waiting"
        case .parked: "receipt-relay validations list --parked"
        case .webhooks: "receipt-relay webhooks deliveries --state waiting"
        case .endpoints: "receipt-relay webhooks list"
        case .notifications: "receipt-relay notifications list --status pending"
        case .topics: "receipt-relay notifications list"
        case .consumption: "receipt-relay notifications consumption"
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
            (try await store.ops.summary(isCounting: false, in: .all), try await store.instances.running(in: .all))
        }
        let diagnosis = Diagnosis(summary)
        if json {
            try JSONOutput.write { Self.write(diagnosis, summary, &$0) }
        } else {
            print(Hue.bold.around(diagnosis.headline))
            for finding in diagnosis.findings {
                let hue: Hue = finding.severity == .critical ? .red : .yellow
                print("\n\(hue.around(finding.severity.rawValue.uppercased()))  \(TextTable.plain(finding.what))")
                print("  \(finding.advice)")
                if let command = Self.command(finding.place) { print("  Show them: \(command)") }
            }
            let backlog = summary.backlog
            print("")
            TextTable.write(copies, RunningCopy.columns("id", "role", "startedAt", "lastSeenSeconds", "upstream"))
            print("")
            TextTable(columns: [
                "NOT TAKEN BY CLEENG", "ACCESS WAITED FOR", "OVERDUE", "PARKED", "WEBHOOKS", "NOTIFICATIONS",
            ])
            .write([
                [
                    "\(backlog.forwarding)", "\(backlog.watching)", "\(backlog.overdue)", "\(backlog.parked)",
                    "\(summary.webhooks.waiting)", "\(summary.notifications.waiting)",
                ]
            ])
            if !summary.stores.isEmpty {
                print("")
                TextTable.write(
                    summary.stores,
                    StoreHealth.columns("store", "lastNotificationAt", "waiting", "parked", "sweptAt", "sweepError"))
            }
        }
        switch diagnosis.severity {
        case .ok: return
        case .warning: throw ExitCode(1)
        case .critical: throw ExitCode(2)
        }
    }

    private static func write(_ diagnosis: Diagnosis, _ summary: OpsSummary, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("severity", diagnosis.severity.rawValue)
        writer.field("headline", diagnosis.headline)
        writer.array("findings", diagnosis.findings)
        writer.field("upstream", summary.upstream?.state.rawValue ?? "down")
        writer.field("workerSeenSeconds", summary.workerSeen.map { Int(max($0.components.seconds, 0)) })
        writer.beginArray("missingTables")
        for name in summary.missingTables { writer.value(name) }
        writer.endArray()
        writer.field("forwarding", summary.backlog.forwarding)
        writer.field("watching", summary.backlog.watching)
        writer.field("overdue", summary.backlog.overdue)
        writer.field("parked", summary.backlog.parked)
        writer.endObject()
    }
}
