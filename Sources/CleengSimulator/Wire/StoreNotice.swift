/// What a notification of the App Store says, as far as the simulator looks at it.
struct StoreNotice: Sendable, Equatable {
    enum Version: Sendable { case one, two }

    let version: Version
    let type: String?
    let subtype: String?
    /// nil in version 1, which has no name.
    let uuid: String?
    let originalTransactionId: String?
    /// nil in version 1, which does not say when it was made.
    let signedAt: Moment?
    /// The end of what was paid for.
    let expiresAt: Moment?
}
