import ArgumentParser
import Formats
import Foundation
import Relay
import RelayCore

struct Encryption: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Seals emails and receipts in the database, and looks after the keys.",
        discussion: """
            An empty database is sealed by the first copy that is started with \(Setting.encryptionKeys.name). One that has purchases in it is \
            sealed by `enable`, while no copy runs.
            """,
        subcommands: [CreateKey.self, Status.self, Enable.self, Disable.self, Rotate.self])

    struct CreateKey: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Prints a new key. Who loses it loses every email and receipt that is sealed: keep a copy elsewhere.")

        func run() { print(WrappingKey.make()) }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Says whether the database is sealed, and by which keys.")

        @Flag(help: "As JSON.")
        var json = false

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let (state, keys, configured) = try await DatabaseSession.run(option, opensVault: false) { store in
                (
                    try await store.encryption.state(), try await store.encryption.dataKeys(),
                    store.memory.vault.wrappingKeys.map(\.id)
                )
            }
            guard !json else {
                return try JSONOutput.write { writer in
                    writer.beginObject()
                    writer.field("state", state.word)
                    writer.beginArray("configuredKeys")
                    for id in configured { writer.value(id) }
                    writer.endArray()
                    writer.beginArray("dataKeys")
                    for key in keys {
                        writer.beginObject()
                        writer.field("number", Int(key.number))
                        writer.field("createdAt", key.createdAt.rfc3339)
                        writer.field("wrappedBy", key.wrappedBy)
                        writer.field("canBeOpened", configured.contains(key.wrappedBy))
                        writer.endObject()
                    }
                    writer.endArray()
                    writer.endObject()
                }
            }
            print("the database \(state.sentence)")
            print("configured keys: \(configured.isEmpty ? "none" : configured.joined(separator: ", "))")
            guard !keys.isEmpty else { return }
            TextTable(columns: ["DATA KEY", "CREATED", "WRAPPED BY", "CAN BE OPENED"]).write(
                keys.map {
                    [
                        "\($0.number)", $0.createdAt.rfc3339, $0.wrappedBy,
                        configured.contains($0.wrappedBy) ? "yes" : "no",
                    ]
                })
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Seals what is there already, while no copy runs. Broken off, it goes on where it was.")

        @OptionGroup var option: ConfigurationOption

        func run() async throws { try await Encryption.convert(option, .seal) }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Opens everything again, while no copy runs. Broken off, it goes on where it was.")

        @OptionGroup var option: ConfigurationOption

        func run() async throws { try await Encryption.convert(option, .open) }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Wraps the data keys by the first of the configured keys. Copies may run.",
            discussion: """
                Put the new key first and leave the old one behind it, in the configuration of all copies, and restart them; then run this; \
                then the old one can go. Nothing that is sealed is written anew.
                """)

        @Flag(help: "Also makes a new data key, by which receipts are sealed from now on.")
        var newDataKey = false

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let addsKey = newDataKey
            let count = try await DatabaseSession.perform(.rotateKeys(addsKey: addsKey), option)
            print("\(count) data keys wrapped anew\(addsKey ? "; receipts are sealed by a new one from now on" : "")")
        }
    }

    private static func convert(_ option: ConfigurationOption, _ direction: EncryptionRun.Direction) async throws {
        let shown = direction == .seal ? "sealed" : "opened"
        let rows = try await DatabaseSession.run(option, opensVault: false) { store in
            let report: @Sendable (EncryptionRun.Progress) -> Void = { progress in
                // A terminal shows progress, one line for each table. Other outputs get a line only when a table is
                // done.
                let isDone = progress.bucketsDone == 256
                guard isDone || isatty(STDERR_FILENO) == 1 else { return }
                let share = "\(progress.bucketsDone * 100 / 256)%, \(progress.rowsChanged) rows \(shown)"
                let line = "\(isatty(STDERR_FILENO) == 1 ? "\r" : "")\(progress.table): \(share)\(isDone ? "\n" : "")"
                FileHandle.standardError.write(Data(line.utf8))
            }
            return try await Operations(store: store).perform(.convert(direction, report: report), by: ShellUser.actor)
        }
        print(
            "\(rows) rows \(shown); the database \((direction == .seal ? EncryptionState?.some(.sealed) : .plain).sentence)"
        )
        if direction == .open {
            print("take \(Setting.encryptionKeys.name) out of the configuration before copies are started")
        }
        if direction == .seal {
            print("what was there before stands in dead rows until they are vacuumed: VACUUM FULL removes it at once")
        }
    }
}

extension EncryptionState? {
    fileprivate var word: String {
        switch self {
        case nil: "undecided"
        case .plain: "plain"
        case .sealed: "sealed"
        case .beingSealed: "being_sealed"
        case .beingOpened: "being_opened"
        }
    }

    fileprivate var sentence: String {
        switch self {
        case nil: "is empty: the first copy that is started decides"
        case .plain: "is not sealed"
        case .sealed: "is sealed"
        case .beingSealed: "is being sealed: run `receipt-relay encryption enable` to its end"
        case .beingOpened: "is being opened: run `receipt-relay encryption disable` to its end"
        }
    }
}
