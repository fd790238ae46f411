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
    ///
    /// - Parameter sections: the pages linked from this one.
    public mutating func welcome(
        _ name: String, role: String, formToken: String, at section: Section?, of sections: [Section] = Section.all()
    ) {
        viewer = Viewer(
            name: name, role: role, formToken: formToken,
            pages: sections.map { Link(title: $0.title, href: $0.path, isHere: $0 == section) })
    }
}

/// A page linked from every page.
public struct Section: Sendable, Hashable {
    public let title: String
    public let path: String

    /// - Parameter name: last part of the path.
    public init(_ name: String, _ title: String) {
        self.init(title: title, path: "/console/\(name)")
    }

    private init(title: String, path: String) {
        self.title = title
        self.path = path
    }

    public static let overview = Section(title: "Overview", path: "/")
    public static let validations = Section("validations", "Validations")
    public static let customers = Section("customers", "Customers")
    public static let subscriptions = Section("subscriptions", "Subscriptions")
    public static let transfers = Section("transfers", "Transfers")
    public static let notifications = Section("notifications", "Notifications")
    public static let events = Section("events", "Events")
    public static let webhooks = Section("webhooks", "Webhooks")
    public static let offers = Section("offers", "Offers")
    public static let parked = Section("parked", "Parked")
    public static let keys = Section("keys", "Keys")
    public static let audit = Section("audit", "Audit log")

    /// All, in the order of display.
    ///
    /// - Parameter features: those of features.
    public static func all(_ features: [Section] = []) -> [Section] {
        [overview, validations, customers, subscriptions, transfers, notifications, events, webhooks] + features
            + [offers, parked, keys, audit]
    }
}
