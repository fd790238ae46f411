/// Why a body is none of a store's notifications. In this library's own words only.
public struct SignalError: Error, Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case notJSON
        /// JSON, and no such notification.
        case notANotification
    }

    public var kind: Kind
    public var detail: String

    init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }
}
