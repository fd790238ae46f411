public import RelayCore

/// Selection of purchases that must be sent again.
public struct ReplayFilter: Sendable {
    public enum Selection: Sendable, Equatable {
        /// Purchases that are parked for an operator.
        case parked
        /// Purchases with this status, except abandoned ones: those can only be retried one by one.
        case status(ValidationStatus)
    }

    public var selection: Selection
    /// Only purchases accepted at this time or later.
    public var from: Timestamp?
    /// Only purchases accepted before this time.
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
        /// The database refused the change because of the row's contents.
        case unreadable
    }

    /// Matches of the filter, oldest first.
    public var matched: [ValidationID] = []
    /// Purchases that will be sent again.
    public var replayed: [ValidationID] = []
    public var refused: [(id: ValidationID, why: Refusal)] = []
    /// Start of the next page; nil if there is none.
    public var next: ValidationCursor?
}
