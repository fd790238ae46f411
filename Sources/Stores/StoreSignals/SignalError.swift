/// Why a body is not a store's notification. Contains only this library's own words.
public struct SignalError: Error, Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case notJSON
        /// Valid JSON, but not such a notification.
        case notANotification
    }

    public var kind: Kind
    public var detail: String

    init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }
}
