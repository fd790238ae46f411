package import Relay

extension Feature {
    /// Pages for operators.
    package static let console = Feature(
        stored: StoredFeature(),
        front: FrontFeature(ops: { parts in
            let pages = try ConsolePages()
            let routes = ConsoleRoutes(
                console: ConsoleContext(
                    store: parts.store, pages: pages, keys: parts.authenticator.keys,
                    sections: Section.all(parts.pages.map(Section.init))),
                features: parts.pages, actions: ConsoleActions(tools: parts.tools)
            ).routes
            return FrontFeature.Ops(routes: routes, dialects: [.console(pages)])
        }))
}

extension Section {
    init(_ page: OpsPage) { self.init(page.name, page.title) }
}
