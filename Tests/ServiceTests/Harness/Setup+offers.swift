import Testing

extension TestDatabase {
    /// Adds a product to the catalogue. A running relay reads it within five seconds.
    func add(offer: String, of product: String) async throws {
        let added = try await ChildProcess.run(
            "receipt-relay", ["offers", "add", "--offer", offer, "--product", product],
            environment: ["RELAY_DATABASE_URL": url])
        #expect(added.code == 0, "\(added.output)")
    }
}

extension Setup {
    /// A setup whose relay knows a catalogue when it starts.
    ///
    /// - Parameter offers: offers, each with its product.
    static func run(
        offers: [(String, String)], settings: [String: String], _ body: (Setup) async throws -> Void
    ) async throws {
        try await run(settings: settings) { setup in
            for (offer, product) in offers { try await setup.database.add(offer: offer, of: product) }
            let relay = try await Relay.start(
                database: setup.database, simulator: setup.simulator, keys: setup.relay.keys, settings: settings)
            await setup.relay.end()
            try await relay.during {
                try await body(Setup(database: setup.database, simulator: setup.simulator, relay: relay))
            }
        }
    }
}
