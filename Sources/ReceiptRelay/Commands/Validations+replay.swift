import ArgumentParser
import Formats
import Relay
import RelayCore

extension Validations {
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sends a range of purchases to Cleeng once more, oldest first.",
            discussion: "What was abandoned by hand is left out. Ended in the middle, what was reached stays done.")

        @Flag(help: "Those parked for an operator.")
        var parked = false

        @Option(help: "Or those with this status: pending, rejected or timed_out.")
        var status: String?

        @Option(help: "Accepted at or after: a date, or a time such as 2026-11-20T10:00:00Z.")
        var since: String?

        @Option(help: "Accepted before.")
        var until: String?

        @Option(help: "How many at most; all where it is left out.")
        var limit: Int?

        @Option(help: "Why; it is recorded.")
        var reason: String?

        @Flag(help: "Only says how many they are.")
        var dryRun = false

        @OptionGroup var option: ConfigurationOption

        private static let page = 100

        func validate() throws {
            guard parked != (status != nil) else { throw ValidationError("one of --parked and --status is wanted") }
            if let status, ValidationStatus(name: status)?.allowsRetry != true {
                throw ValidationError("--status is one of pending, rejected, timed_out")
            }
            try TimeRange.check(since: since, until: until)
            guard (limit ?? 1) > 0 else { throw ValidationError("--limit is 1 or more") }
            guard let reason else {
                guard dryRun else { throw ValidationError("--reason is wanted") }
                return
            }
            try ReasonOption.check(reason)
        }

        func run() async throws {
            let selection: ReplayFilter.Selection =
                status.flatMap(ValidationStatus.init(name:)).map { .status($0) } ?? .parked
            let filter = ReplayFilter(
                selection, from: since.flatMap(Timestamp.init(rfc3339:)), to: until.flatMap(Timestamp.init(rfc3339:)))
            let (limit, isDryRun, why) = (limit ?? .max, dryRun, reason?.trimmingSpace() ?? "")
            let isComplete = try await DatabaseSession.run(option) { store in
                var filter = filter
                var (matched, replayed, refused) = (0, 0, 0)
                repeat {
                    filter.limit = min(Self.page, limit - matched)
                    let page = try await Operations(store: store).perform(
                        .replay(filter, isDryRun: isDryRun), by: ShellUser.actor, reason: why)
                    matched += page.matched.count
                    replayed += page.replayed.count
                    refused += page.refused.count
                    for (id, why) in page.refused { print("\(id)  not sent: \(why.advice)") }
                    filter.cursor = page.next
                    if !isDryRun, filter.cursor != nil {
                        print("\(replayed) are sent again, \(refused) are not; going on")
                    }
                } while filter.cursor != nil && matched < limit
                print(isDryRun ? "\(matched) would be sent again" : "\(replayed) are sent again, \(refused) are not")
                return refused == 0
            }
            if !isComplete { throw ExitCode(1) }
        }
    }
}

extension ReplayPage.Refusal {
    fileprivate var advice: String {
        switch self {
        case .refused(let refusal): refusal.advice
        case .unreadable: "the database would not have it"
        }
    }
}
