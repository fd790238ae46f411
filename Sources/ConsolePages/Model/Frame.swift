/// What all pages have around them.
public struct Frame: Sendable {
    public struct Viewer: Sendable {
        public var name: String
        public var role: String
        /// Comes back with every form.
        public var formToken: String
        var pages: [Link]
    }

    struct Link: Sendable {
        var title: String
        var href: String
        var isHere: Bool
    }

    public var title: String
    /// Nil where nobody is signed in.
    public var viewer: Viewer?
    public var assets: String
    /// What was just done.
    public var notice: String?
    /// What is wrong with everybody, where one of them is looked at.
    public var alert: String?
    /// In how many seconds the page is fetched anew; nil: it stays as it is.
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

/// The pages that are one click away from everywhere.
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
