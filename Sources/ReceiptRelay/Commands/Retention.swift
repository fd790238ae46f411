import ArgumentParser
import NIOConcurrencyHelpers
import Relay
import RelayCore

struct Retention: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Removes what is older than it is to be kept, by hand.", subcommands: [Run.self])

    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One pass, to its end; running copies do the same by themselves.",
            discussion: """
                Days are those of RELAY_RETENTION_DAYS and RELAY_RECEIPT_RETENTION_DAYS. Exits 1 where something could not be \
                removed now: another copy is at it, a table is locked, PostgreSQL refuses a drop, or its date may be wrong.
                """)

        @Flag(help: "Only says what would go.")
        var dryRun = false

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let policy = try option.settings().retention()
            let isDryRun = dryRun
            let steps = NIOLockedValueBox<[RetentionPass.Step]>([])
            try await DatabaseSession.run(option) { store in
                let pass = RetentionPass(store: store, policy: policy, budget: nil, lockTries: 10)
                let report: @Sendable (RetentionPass.Step) -> Void = { step in
                    steps.withLockedValue { $0.append(step) }
                    print(step.line)
                }
                guard !isDryRun else {
                    _ = try await pass.run(isDryRun: true, report: report)
                    return
                }
                try await Operations(store: store).perform(.retain(pass, report: report), by: ShellUser.actor)
            }
            let report = steps.withLockedValue { $0 }
            if report.isEmpty { print("nothing is older than it is kept") }
            if report.contains(where: \.isIncomplete) { throw ExitCode(1) }
        }
    }
}

extension RetentionPass.Step {
    /// Whether old data remains that could not be deleted.
    fileprivate var isIncomplete: Bool {
        switch self {
        case .locked, .failed, .clockInDoubt, .elsewhere, .unfinished: true
        default: false
        }
    }

    fileprivate static func date(_ day: Int) -> String {
        String(Timestamp(seconds: Int64(day) * 86_400).rfc3339.prefix(10))
    }

    fileprivate var line: String {
        switch self {
        case .wouldDrop(let partition): "\(partition.name)  would be dropped: \(partition.summary)"
        case .wouldClearDefault(let table): "\(table.rawValue)_default  old rows would be removed"
        case .dropped(let partition): "\(partition.name)  dropped: \(partition.summary)"
        case .heldBack(let partition, let pursued, let parked):
            "\(partition.name)  held back: \(pursued) purchases in it are still pursued, \(parked) of them parked"
        case .locked(let partition): "\(partition.name)  not dropped: the table is locked; try again later"
        case .failed(let partition, let reason): "\(partition.name)  not dropped: \(reason)"
        case .forgotten(let partition, let validations):
            "\(partition.name)  nothing points to \(validations) of its validations any more"
        case .clearedDefault(let table, let rows): "\(table.rawValue)_default  \(rows) old rows removed"
        case .wouldClear(let leftovers): "\(leftovers.table)  those \(leftovers.what) would be removed"
        case .cleared(let leftovers, let rows): "\(leftovers.table)  \(rows) \(leftovers.what) removed"
        case .clockInDoubt(let today):
            """
            nothing is removed: the database's date, \(Self.date(today)), may be wrong. Check the clock of its machine; if \
            all copies were stopped for weeks, retention continues by itself within two weeks
            """
        case .elsewhere: "another copy is removing at this moment"
        case .unfinished: "not finished; the next pass continues"
        }
    }
}

extension WeeklyPartition {
    fileprivate var summary: String {
        typealias Step = RetentionPass.Step
        return "\(Step.date(days.lowerBound)) to \(Step.date(days.upperBound - 1)), \(bytes) bytes"
    }
}
