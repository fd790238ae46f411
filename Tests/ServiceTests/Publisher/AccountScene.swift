import Foundation

/// Two publishers on one relay: `main` with the common account at Cleeng, and `nordic` with its own account at another
/// simulated Cleeng, which has another token.
struct AccountScene {
    /// Placeholder for the address of `nordic`'s Cleeng in the file of publishers.
    static let otherURL = "http://other.invalid"

    static let token = "pub_tok_of_nordic_48_characters_long_as_real_tok"

    var setup: Setup
    /// The simulated Cleeng of `nordic`.
    var other: Simulator
    /// A key of the role `app`.
    var nordicApp: String
    var relay: Relay { setup.relay }

    /// - Parameters:
    ///   - settings: settings of all publishers.
    ///   - nordic: further lines of `nordic` in the file of publishers, as YAML, indented by four spaces.
    ///   - token: token of `nordic`.
    static func run(
        settings: [String: String] = [:], nordic: String = "", token: String = token,
        _ body: (AccountScene) async throws -> Void
    ) async throws {
        let other = try await Simulator.start(token: Self.token)
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        try await other.during {
            let file = try scratch.write(
                "publishers.yaml",
                """
                nordic:
                  cleeng:
                    publisher_token_file: \(try scratch.write("token", token + "\n"))
                    payment_url: \(other.url)
                    api_url: \(other.url)
                    storekit2_url: \(other.url)
                \(nordic.replacingOccurrences(of: otherURL, with: other.url))
                """)
            let all = settings.merging(["RELAY_PUBLISHERS_FILE": file]) { $1 }
            try await Setup.run(settings: all) { setup in
                let key = try await Relay.makeKey("app", setup.database, publisher: "nordic")
                try await body(AccountScene(setup: setup, other: other, nordicApp: key))
            }
        }
    }

    /// - Returns: the validation's id.
    func buy(_ purchase: TestPurchase, nordic: Bool) async throws -> String {
        let answer = try await relay.purchase(purchase, key: nordic ? nordicApp : nil)
        guard let id = answer.json["validationId"].string else {
            throw HarnessError.failed("a purchase", [answer.text])
        }
        return id
    }

    func outcome(_ id: String, nordic: Bool) async throws -> String? {
        try await Awaiting.fact("validation \(id) is no longer pending") {
            try await relay.poll(id, wait: 30, key: nordic ? nordicApp : nil).json["status"].string
        } holds: {
            $0 != "pending"
        }
    }
}
