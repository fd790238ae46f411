/// Header and footer that all pages share.
struct Frame: Sendable {
    struct Viewer: Sendable {
        var name: String
        var role: String
        /// Token that every form sends back.
        var formToken: String
        var pages: [Link]
    }

    struct Link: Sendable {
        var title: String
        var href: String
        var isHere: Bool
    }

    var title: String
    /// Nil if no operator is signed in.
    var viewer: Viewer?
    var assets: String
    /// Result of the action just performed.
    var notice: String?
    /// A general problem, shown on the page of a single item or a filtered list.
    var alert: String?
    /// Seconds until the page reloads; nil: never.
    var liveSeconds: Int?
    var renderedAt: String?

    init(title: String, assets: ConsoleAssets) {
        self.title = title
        self.assets = assets.version
    }

    /// Fills in the parts of a page that only a signed-in user sees.
    ///
    /// - Parameter sections: the pages linked from this one.
    mutating func welcome(
        _ name: String, role: String, formToken: String, at section: Section?, of sections: [Section] = Section.all()
    ) {
        viewer = Viewer(
            name: name, role: role, formToken: formToken,
            pages: sections.map { Link(title: $0.title, href: $0.path, isHere: $0 == section) })
    }
}

/// A page linked from every page.
struct Section: Sendable, Hashable {
    let title: String
    let path: String

    /// - Parameter name: last part of the path.
    init(_ name: String, _ title: String) {
        self.init(title: title, path: "/console/\(name)")
    }

    private init(title: String, path: String) {
        self.title = title
        self.path = path
    }

    static let overview = Section(title: "Overview", path: "/")
    static let validations = Section("validations", "Validations")
    static let customers = Section("customers", "Customers")
    static let subscriptions = Section("subscriptions", "Subscriptions")
    static let transfers = Section("transfers", "Transfers")
    static let notifications = Section("notifications", "Notifications")
    static let events = Section("events", "Events")
    static let webhooks = Section("webhooks", "Webhooks")
    static let offers = Section("offers", "Offers")
    static let parked = Section("parked", "Parked")
    static let keys = Section("keys", "Keys")
    static let audit = Section("audit", "Audit log")

    /// All, in the order of display.
    ///
    /// - Parameter features: those of features.
    static func all(_ features: [Section] = []) -> [Section] {
        [overview, validations, customers, subscriptions, transfers, notifications, events, webhooks] + features
            + [offers, parked, keys, audit]
    }
}
