/// The two ways on which the upstream is called. Each fails and recovers by itself.
public enum UpstreamRoute: String, Sendable, CaseIterable {
    case payments = "payment"
    case reads = "entitlements"

    var other: UpstreamRoute { self == .payments ? .reads : .payments }
}
