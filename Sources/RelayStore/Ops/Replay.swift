import RelayCore

/// Which purchases are to be sent once more, as a range.
public struct ReplayFilter: Sendable {
    public enum Selection: Sendable, Equatable {
        /// What is parked for an operator.
        case parked
        /// What stands at this status. Never what an operator has abandoned: that comes back by hand alone.
        case status(ValidationStatus)
    }

    public var selection: Selection
    /// Accepted at or after.
    public var from: Timestamp?
    /// Accepted before.
    public var to: Timestamp?
    public var limit: Int
    public var cursor: ValidationCursor?

    public init(
        _ selection: Selection, from: Timestamp? = nil, to: Timestamp? = nil, limit: Int = 100,
        cursor: ValidationCursor? = nil
    ) {
        self.selection = selection
        self.from = from
        self.to = to
        self.limit = limit
        self.cursor = cursor
    }
}

/// Outcome of one page of a replay.
public struct ReplayPage: Sendable {
    public enum Refusal: Sendable, Equatable {
        case refused(OpsRefusal)
        /// The database would not have it, for what is in its rows.
        case unreadable
    }

    /// What the filter found, oldest first.
    public var matched: [ValidationID] = []
    /// Sent again from now on.
    public var replayed: [ValidationID] = []
    public var refused: [(id: ValidationID, why: Refusal)] = []
    /// Where the next page begins; nil where there is none.
    public var next: ValidationCursor?
}
