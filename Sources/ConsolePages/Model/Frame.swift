/// Header and footer that all pages share.
public struct Frame: Sendable {
    public struct Viewer: Sendable {
        public var name: String
        public var role: String
        /// Token that every form sends back.
        public var formToken: String
        var pages: [Link]
    }

    struct Link: Sendable {
        var title: String
        var href: String
        var isHere: Bool
    }

    public var title: String
    /// Nil if no operator is signed in.
    public var viewer: Viewer?
    public var assets: String
    /// Result of the action just performed.
    public var notice: String?
    /// A general problem, shown on the page of a single item or a filtered list.
    public var alert: String?
    /// Seconds until the page reloads; nil: never.
    public var liveSeconds: Int?
    public var renderedAt: String?

    public init(title: String, assets: ConsoleAssets) {
        self.title = title
        self.assets = assets.version
    }

    /// Fills in the parts of a page that only a signed-in user sees.
    public mutating func welcome(_ name: String, role: String, formToken: String, at section: Section?) {
        viewer = Viewer(
            name: name, role: role, formToken: formToken,
            pages: Section.allCases.map { Link(title: $0.title, href: $0.path, isHere: $0 == section) })
    }
}

/// Pages linked from every page.
public enum Section: String, Sendable, CaseIterable {
    case overview, validations, customers, subscriptions, transfers, notifications, events, webhooks, orders, offers,
        parked, keys, audit

    public var title: String {
        switch self {
        case .overview: "Overview"
        case .validations: "Validations"
        case .customers: "Customers"
        case .subscriptions: "Subscriptions"
        case .transfers: "Transfers"
        case .notifications: "Notifications"
        case .events: "Events"
        case .webhooks: "Webhooks"
        case .orders: "Orders"
        case .offers: "Offers"
        case .parked: "Parked"
        case .keys: "Keys"
        case .audit: "Audit log"
        }
    }

    public var path: String { self == .overview ? "/" : "/console/\(rawValue)" }
}
