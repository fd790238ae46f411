import Foundation

/// What an app does about a purchase.
public enum Outcome: Sendable, Hashable {
    /// Reveal the content.
    ///
    /// - `until`: when access ends unless it is renewed; nil where that is not known.
    /// - `late`: it came after the app had been told to assume a failure.
    case granted(until: Date?, late: Bool)
    /// Access is not given, and the user should learn of it. The reason is the billing system's code or one of the
    /// relay's, such as `transferred`, `refunded` or `expired`; nil where none is known.
    case refused(reason: String?)
    /// No grant came in the time allowed: tell the user that it failed, and look again at the next start of the app. A
    /// late grant is not lost.
    case assumeFailed
}
