import ArgumentParser

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
    ///
    /// - Parameter json: names and values of one item; what is nil is null.
    func write<Item>(
        _ items: [Item], next: (some CustomStringConvertible)?, columns: [String], row: (Item) -> [String],
        json names: (Item) -> [String: String?]
    ) throws {
        guard !json else {
            return try JSONOutput.write(Page(items: items.map(names), nextCursor: next?.description))
        }
        Table(columns: columns).write(items.map(row))
        if let next { print("more: --cursor \(next)") }
    }

    private struct Page: Encodable {
        var items: [[String: String?]]
        var nextCursor: String?
    }
}
