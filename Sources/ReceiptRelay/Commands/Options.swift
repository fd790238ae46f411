public import ArgumentParser
import Formats
import Foundation
import Relay
public import RelayCore

/// Options that all list commands share.
struct PageOptions: ParsableArguments {
    @Option(help: "How many, 1 to 1000.")
    var limit = 50

    @Option(help: "Goes on where another page ended.")
    var cursor: String?

    @Flag(help: "As JSON.")
    var json = false

    func check() throws {
        guard (1...1_000).contains(limit) else { throw ValidationError("--limit is 1 to 1000") }
    }

    /// Start of the page; nil for the first page.
    func cursor<Cursor>(_ read: (String) -> Cursor?) throws -> Cursor? {
        guard let text = cursor else { return nil }
        guard let cursor = read(text) else { throw ValidationError("--cursor is of another page's end") }
        return cursor
    }

    /// Prints a table; with `--json` prints `{"items":[…],"nextCursor":…}`, like the ops API.
    func write<Item: Viewed>(
        _ page: (items: [Item], next: (some CustomStringConvertible)?), columns: [Field<Item>]
    ) throws {
        let next = page.next?.description
        guard !json else { return try JSONOutput.write { $0.page(page.items, next: next) } }
        TextTable.write(page.items, columns)
        if let next { print("more: --cursor \(next)") }
    }
}

/// The reason for a manual action, with the same length limit as in the ops API.
struct ReasonOption: ParsableArguments {
    @Option(name: .customLong("reason"), help: "Why; it is recorded.")
    var given: String

    var text: String { given.trimmingSpace() }

    func validate() throws { try Self.check(given) }

    static func check(_ reason: String) throws {
        let reason = reason.trimmingSpace()
        guard !reason.isEmpty else { throw ValidationError("--reason must not be empty") }
        guard reason.unicodeScalars.count <= 400 else { throw ValidationError("--reason has at most 400 characters") }
    }
}

/// The range of `--since` and `--until`.
enum TimeRange {
    /// - Throws: `ValidationError` if a text is not a time, or if the range is empty.
    static func check(since: String?, until: String?) throws {
        func time(_ name: String, _ text: String?) throws -> Timestamp? {
            guard let text else { return nil }
            guard let time = Timestamp(rfc3339: text) else {
                throw ValidationError("--\(name) is a date, or a time such as 2026-11-20T10:00:00Z")
            }
            return time
        }
        guard let from = try time("since", since), let to = try time("until", until) else { return }
        guard from < to else { throw ValidationError("--until must be after --since") }
    }
}

/// The value that an option names.
///
/// - Throws: `ValidationError` if the name is unknown.
func choice<Value: CaseIterable>(_ option: String, _ name: String?, _ nameOf: (Value) -> String) throws -> Value? {
    guard let name else { return nil }
    guard let value = Value.allCases.first(where: { nameOf($0) == name }) else {
        throw ValidationError("\(option) is one of \(Value.allCases.map(nameOf).joined(separator: ", "))")
    }
    return value
}

extension Identifier: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

struct ConfigurationOption: ParsableArguments {
    @Option(name: .customLong("config"), help: ArgumentHelp("A YAML or JSON file with settings.", valueName: "file"))
    var file: String?

    /// - Throws: ``SettingError``.
    func settings() throws -> SettingReader {
        try SettingReader(environment: ProcessInfo.processInfo.environment, file: file)
    }
}

/// Reads a page and the start of the next one.
typealias PageReader<Item, Cursor> = @Sendable (RelayStore) async throws -> (items: [Item], next: Cursor?)

/// A command that lists rows for operators, page by page.
protocol ListCommand: AsyncParsableCommand {
    associatedtype Item: Viewed
    associatedtype Cursor: CustomStringConvertible & Sendable

    var page: PageOptions { get }
    var option: ConfigurationOption { get }
    static var columns: [Field<Item>] { get }

    /// Makes the reader of the requested page.
    ///
    /// - Throws: `ValidationError` for an invalid option.
    func reader() throws -> PageReader<Item, Cursor>
}

extension ListCommand {
    func validate() throws {
        _ = try reader()
        try page.check()
    }

    func run() async throws { try page.write(try await DatabaseSession.run(option, reader()), columns: Self.columns) }
}
