import Foundation
import TestRun
import Testing

/// The console in a real browser: layout, keyboard, phone, dark mode, and acts.
@Suite(.serialized) struct ConsoleBrowserTests {
    private static let controls = "a[href], button, input:not([type=hidden]), select, textarea"

    private static func signIn(_ browser: Browser, _ setup: Setup, _ key: String) async throws {
        try await browser.open(setup.relay.opsURL + "/")
        try await browser.type(key + "\u{E007}", into: "#key")
        try await Awaiting.fact("the overview is shown") {
            try await browser.title()
        } holds: {
            $0.hasPrefix("Overview")
        }
    }

    /// Waits for the text, since a click returns before the next page is loaded.
    private static func see(_ browser: Browser, _ selector: String, _ text: String) async throws {
        try await Awaiting.fact("\(selector) says: \(text)", is: text) { try await browser.text(selector) }
    }

    /// Checks that apply to every page.
    private static func look(_ browser: Browser, at path: String) async throws {
        #expect(try await browser.elements("h1").count == 1, "\(path)")
        #expect(try await browser.elements("main").count == 1, "\(path)")
        #expect(try await !browser.labels(controls).contains(""), "\(path) has a control without a name")
        let overflow = try await browser.evaluate(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        #expect(overflow.int == 0, "\(path) is wider than the window")
        #expect(try await browser.complaints() == [], "\(path)")
    }

    @Test(arguments: TestRun.all([(390, true), (1_280, false)], otherwise: 1))
    func everyPageWorksWideAndNarrowLightAndDark(width: Int, isDark: Bool) async throws {
        try await Setup.run { setup in
            let id = try await Self.granted("ana@example.test", setup)
            let pages = [
                "/", "/console/validations", "/console/validations/\(id)", "/console/validations/\(id)/retry",
                "/console/waiting", "/console/parked", "/console/customers",
                "/console/customers?email=ana%40example.test", "/console/subscriptions",
                "/console/subscriptions?problem=overdue", "/console/transfers",
                "/console/notifications", "/console/webhooks", "/console/endpoints", "/console/orders",
                "/console/offers",
                "/console/keys", "/console/audit", "/console/search?q=\(id)",
            ]
            try await Browser.run(width: width, isDark: isDark) { browser in
                try await browser.open(setup.relay.opsURL + "/")
                try await Self.look(browser, at: "/console/sign-in")
                try await Self.signIn(browser, setup, setup.relay.keys.operator)
                let paper = try await browser.evaluate("return getComputedStyle(document.body).backgroundColor").string
                #expect((paper == "rgb(253, 253, 252)") == !isDark, "\(paper ?? "")")
                for page in pages {
                    try await browser.open(setup.relay.opsURL + page)
                    try await Self.look(browser, at: page)
                    if let folder = ProcessInfo.processInfo.environment["RELAY_SCREENSHOTS"] {
                        let name = page.replacing("/", with: "_").replacing("?", with: "_").prefix(40)
                        try await browser.screenshot().write(
                            to: URL(fileURLWithPath: "\(folder)/\(width)\(name).png"))
                    }
                }
            }
        }
    }

    @Test func anOperatorAbandonsByMouseAndSignsOutByKeyboard() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            try await SimulatorControl(setup.simulator).behave("ana@example.test", "never")
            let bought = try await setup.relay.purchase(TestPurchase(email: "ana@example.test"))
            let id = try #require(bought.json["validationId"].string)
            try await Browser.run { browser in
                try await Self.signIn(browser, setup, setup.relay.keys.operator)
                try await browser.type(id + "\u{E007}", into: "#search")
                try await Awaiting.fact("the validation is shown") {
                    try await browser.text("main .lead")
                } holds: {
                    $0.contains("pending")
                }
                try await browser.click("a.grave")
                try await browser.type("ticket 4711", into: "#reason")
                try await browser.click("main button.main")
                try await Self.see(browser, ".notice", "It is abandoned.")
                #expect(try await browser.text("main .lead").contains("abandoned"))
                #expect(try await setup.relay.poll(id).json["reason"].string == "abandoned")
                try await browser.open(setup.relay.opsURL + "/console/audit")
                #expect(try await browser.text("tbody tr").contains("ticket 4711"))
                #expect(try await browser.complaints() == [])
                // The first tab stop skips the navigation.
                try await browser.press("\u{E004}")
                #expect(
                    try await browser.evaluate("return document.activeElement.textContent").string
                        == "Skip to the content")
                try await browser.evaluate("document.querySelector('.who button').focus()")
                try await browser.press("\u{E007}")
                try await Awaiting.fact("the way in is shown") {
                    try await browser.title()
                } holds: {
                    $0.hasPrefix("Sign in")
                }
            }
        }
    }

    @Test(.whole) func anOperatorReadsCleengNow() async throws {
        try await Setup.run { setup in
            let id = try await Self.granted("ana@example.test", setup)
            try await SimulatorControl(setup.simulator).entitle(
                "ana@example.test", to: "S123456789_US", status: "terminated")
            try await Browser.run { browser in
                try await Self.signIn(browser, setup, setup.relay.keys.operator)
                try await browser.open(setup.relay.opsURL + "/console/customers?email=ana%40example.test")
                try await browser.click("a[href$='/refresh']")
                try await browser.type("ticket 4713", into: "#reason")
                try await browser.click("main button.main")
                try await Self.see(browser, ".notice", "Cleeng has answered: this is what is known now.")
                #expect(try await setup.relay.poll(id).json["status"].string == "revoked")
                try await browser.open(setup.relay.opsURL + "/console/audit")
                #expect(try await browser.text("tbody tr").contains("ticket 4713"))
                #expect(try await browser.complaints() == [])
            }
        }
    }

    @Test(.whole, arguments: [1_280, 390])
    func anOperatorSelectsRowsAndAbandonsThemTogether(width: Int) async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            for email in ["ana@example.test", "bob@example.test"] {
                try await SimulatorControl(setup.simulator).behave(email, "never")
                _ = try await setup.relay.purchase(TestPurchase(email: email))
            }
            try await Browser.run(width: width) { browser in
                try await Self.signIn(browser, setup, setup.relay.keys.operator)
                try await browser.open(setup.relay.opsURL + "/console/validations")
                try await browser.click("tbody tr:nth-child(1) input")
                try await browser.click("tbody tr:nth-child(2) input")
                try await Self.look(browser, at: "/console/validations")
                try await browser.click(".picks button.grave")
                try await Self.see(browser, "h1", "Abandon a validation: 2 selected")
                try await browser.type("ticket 4713", into: "#reason")
                try await browser.click("main button.main")
                try await Self.see(browser, "h1", "Abandon a validation: 2 of 2 done")
                try await Self.look(browser, at: "/console/selected")
            }
        }
    }

    /// Cleeng refuses the token while the engineer on call looks at the first page.
    @Test(.whole) func theOverviewShowsProblemsAndWaitingPurchases() async throws {
        try await Setup.run(settings: ["RELAY_CLEENG_PUBLISHER_TOKEN": "a_token_that_cleeng_never_gave_out"]) { setup in
            try await Browser.run { browser in
                try await Self.signIn(browser, setup, setup.relay.keys.viewer)
                try await Awaiting.fact("all is well", is: "Purchases go through.") {
                    try await browser.text(".diagnosis h2")
                }
                _ = try await setup.relay.purchase(TestPurchase(email: "ana@example.test"))
                try await Awaiting.fact("the page has changed by itself") {
                    try await browser.text(".diagnosis")
                } holds: {
                    $0.contains("Cleeng refuses our token") && $0.contains("RELAY_CLEENG_PUBLISHER_TOKEN")
                }
                try await browser.click(".diagnosis a")
                #expect(try await browser.url() == setup.relay.opsURL + "/console/waiting")
                #expect(try await browser.text("tbody").contains("ana@example.test"))
                #expect(try await browser.text("main .lead").hasPrefix("1 in all."))
                #expect(try await browser.text("main .wrong").contains("Cleeng refuses our token"))
                // A viewer can read but not act.
                try await browser.click("tbody td a")
                #expect(try await browser.elements("main .actions").isEmpty)
                #expect(try await browser.complaints() == [])
            }
        }
    }

    private static func granted(_ email: String, _ setup: Setup) async throws -> String {
        let answer = try await setup.relay.purchase(TestPurchase(email: email))
        guard let id = answer.json["validationId"].string else {
            throw HarnessError.failed("a purchase", [answer.text])
        }
        _ = try await setup.relay.outcome(id)
        return id
    }
}
