import ArgumentParser
import Formats
import Foundation
import Operations
public import RelayCore

/// What all lists take, and how they are told.
struct PageOptions: ParsableArguments {
    @Option(help: "How many, 1 to 1000.")
    var limit = 50

    @Option(help: "Goes on where another page ended.")
    var cursor: String?

    @Flag(help: "As JSON.")
    var json = false

    /// - Parameter isCursor: whether a text is where a page of this list may have ended.
    func check(_ isCursor: (String) -> Bool) throws {
        guard (1...1_000).contains(limit) else { throw ValidationError("--limit is 1 to 1000") }
        guard cursor.map(isCursor) ?? true else { throw ValidationError("--cursor is of another page's end") }
    }

    /// A table for people; with `--json` `{"items":[…],"nextCursor":…}`, as the ops API has it.
    func write<Item: Viewed>(
        _ page: (items: [Item], next: (some CustomStringConvertible)?), columns: [Field<Item>]
    ) throws {
        let next = page.next?.description
        guard !json else { return try JSONOutput.write { $0.page(page.items, next: next) } }
        TextTable.write(page.items, columns)
        if let next { print("more: --cursor \(next)") }
    }
}

/// What `--json` prints: as the ops API has it, in lines.
enum JSONOutput {
    static func write(_ write: (inout JSONWriter) throws -> Void) throws {
        var writer = JSONWriter(capacity: 4_096)
        try write(&writer)
        let value = try JSONSerialization.jsonObject(with: Data(writer.bytes), options: .fragmentsAllowed)
        let lines = try JSONSerialization.data(
            withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        print(String(decoding: lines, as: UTF8.self))
    }

    static func write(_ item: some Viewed) throws { try write { $0.value(item) } }

    static func write<Item: Viewed>(_ items: [Item]) throws {
        try write { writer in
            writer.beginArray()
            for item in items { writer.value(item) }
            writer.endArray()
        }
    }
}

extension Identifier: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
