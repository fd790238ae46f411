import Foundation
import TestRun
import Testing

/// The console's HTTP: access, required form fields, and the audit log.
@Suite struct ConsoleTests {
    private static let pages = [
        "/", "/console/validations", "/console/waiting", "/console/parked", "/console/customers",
        "/console/subscriptions", "/console/transfers", "/console/notifications", "/console/webhooks",
        "/console/endpoints", "/console/events", "/console/orders", "/console/offers", "/console/keys",
        "/console/audit",
    ]

    @Test func onlyAnOpsKeySignsIn() async throws {
        try await Setup.run { setup in
            var visit = ConsoleVisit(setup.relay)
            for page in Self.pages {
                let answer = try await visit.get(page)
                #expect(
                    answer.status == 303 && answer.header("Location")?.hasPrefix("/console/sign-in?next=%2F") == true)
            }
            for (key, status) in [("", 401), ("rr_nothing", 401), (setup.relay.keys.app, 403)] {
                let answer = try await visit.signIn(key)
                #expect(answer.status == status && visit.cookie == nil && answer.text.contains("role=\"alert\""))
                #expect(!answer.text.contains(setup.relay.keys.app))
            }
            let signed = try await visit.signIn(setup.relay.keys.viewer)
            #expect(signed.status == 303 && signed.header("Location") == "/")
            let cookie = try #require(signed.header("Set-Cookie"))
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && !cookie.contains("Secure"))
            for page in Self.pages {
                let answer = try await visit.get(page)
                #expect(answer.status == 200, "\(page): \(answer.text)")
                #expect(answer.header("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
                #expect(answer.header("Cache-Control") == "no-store")
                #expect(!answer.text.contains("style=") && !answer.text.contains("<script>"))
            }
            #expect(try await visit.get("/console/nowhere").status == 404)
            #expect(try await visit.post("/console/sign-out", ["token": try await visit.formToken()]).status == 303)
            #expect(try await visit.get("/").status == 303)
        }
    }

    @Test func behindHTTPSTheCookieIsSecure() async throws {
        try await Setup.run { setup in
            let answer = try await ConsoleVisit(setup.relay).post(
                "/console/sign-in", ["key": setup.relay.keys.viewer, "next": "https://elsewhere.example"],
                headers: ["X-Forwarded-Proto": "https"])
            #expect(answer.header("Set-Cookie")?.contains("Secure") == true && answer.header("Location") == "/")
            let sent = try await ConsoleVisit(setup.relay).post(
                "/console/sign-in", ["key": setup.relay.keys.viewer], headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(sent.status == 403 && sent.header("Set-Cookie") == nil)
        }
    }

    @Test func anOperatorsActIsDoneAndAudited() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            try await SimulatorControl(setup.simulator).behave("ana@example.test", "never")
            let bought = try await setup.relay.purchase(TestPurchase(email: "ana@example.test"))
            let id = try #require(bought.json["validationId"].string)
            let path = "/console/validations/\(id)/abandon"
            var viewer = ConsoleVisit(setup.relay)
            try await viewer.signIn(setup.relay.keys.viewer)
            #expect(try await viewer.get(path).status == 403)
            let forbidden = ["token": try await viewer.formToken(), "reason": "may not"]
            #expect(try await viewer.post(path, forbidden).status == 403)

            var visit = ConsoleVisit(setup.relay)
            try await visit.signIn(setup.relay.keys.operator)
            #expect(try await visit.get("/console/validations/\(id)").text.contains(path))
            #expect(try await visit.get(path).text.contains("never sent again"))
            let token = try await visit.formToken(path)
            // Without the page's own token, with another session's, from another site, and without a reason.
            for fields in [["reason": "x"], ["reason": "x", "token": forbidden["token"] ?? ""]] {
                #expect(try await visit.post(path, fields).status == 403)
            }
            let elsewhere = try await visit.post(
                path, ["reason": "x", "token": token], headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(elsewhere.status == 403)
            #expect(try await visit.post(path, ["reason": "  ", "token": token]).status == 422)
            #expect(try await setup.relay.poll(id).json["status"].string == "pending")

            let reason = "ticket <4711> & \"more\""
            let done = try await visit.post(path, ["reason": reason, "token": token])
            #expect(done.status == 303 && done.header("Location") == "/console/validations/\(id)?done=abandon")
            #expect(try await setup.relay.poll(id).json["reason"].string == "abandoned")
            // A second time is impossible, and the page with the form says so.
            let again = try await visit.post(path, ["reason": reason, "token": token])
            #expect(again.status == 409 && again.text.contains("role=\"alert\""))
            let audit = try await visit.get("/console/audit?action=validation.abandon").text
            #expect(audit.contains(id) && audit.contains("test ops-operator"))
            #expect(audit.contains("ticket &lt;4711&gt; &amp;"), "\(audit)")
        }
    }

    /// Endpoints know a customer by the publisher's own name, not by the email.
    @Test(.whole) func endpointsAreToldAgainByThePublishersName() async throws {
        try await Setup.run { setup in
            var purchase = TestPurchase(email: "ana@example.test")
            purchase.extra["applicationUsername"] = "u-77"
            let bought = try await setup.relay.purchase(purchase)
            let id = try #require(bought.json["validationId"].string)
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            var visit = ConsoleVisit(setup.relay)
            try await visit.signIn(setup.relay.keys.operator)
            let page = try await visit.get("/console/customers?email=ana%40example.test").text
            let name = Data("main\nu-77".utf8).map { String(format: "%02x", $0) }.joined()
            #expect(page.contains("/console/customers/\(name)/resync"), "\(page)")
        }
    }

    @Test(.whole) func anActOnSeveralRowsIsAuditedForEach() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            var ids: [String] = []
            for email in ["ana@example.test", "bob@example.test"] {
                try await SimulatorControl(setup.simulator).behave(email, "never")
                let bought = try await setup.relay.purchase(TestPurchase(email: email))
                ids.append(try #require(bought.json["validationId"].string))
            }
            let unknown = ids[0].dropLast(4) + "0000"
            let chosen = ids + [String(unknown)]
            let path = "/console/selected?action=abandon" + chosen.map { "&id=\($0)" }.joined()
            var viewer = ConsoleVisit(setup.relay)
            try await viewer.signIn(setup.relay.keys.viewer)
            #expect(try await !viewer.get("/console/validations").text.contains("checkbox"))
            #expect(try await viewer.get(path).status == 403)
            var visit = ConsoleVisit(setup.relay)
            try await visit.signIn(setup.relay.keys.operator)
            let list = try await visit.get("/console/validations").text
            for id in ids { #expect(list.contains("type=\"checkbox\" name=\"id\" value=\"\(id)\"")) }
            let asked = try await visit.get(path)
            #expect(asked.status == 200 && asked.text.contains("never sent again"), "\(asked.text)")
            let many = "/console/selected?action=abandon" + (0...50).map { "&id=\($0)" }.joined()
            for (wrong, status) in [
                (many, 400), ("/console/selected?action=abandon", 400),
                ("/console/selected?action=revokeKey&id=1", 404),
            ] {
                #expect(try await visit.get(wrong).status == status, "\(wrong)")
            }
            let token = try await visit.formToken(path)
            var fields = ["action": "abandon", "ids": chosen.joined(separator: ","), "reason": "ticket 4712"]
            #expect(try await visit.post("/console/selected", fields).status == 403)
            fields["token"] = token
            #expect(try await visit.post("/console/selected", fields.merging(["reason": " "]) { $1 }).status == 422)
            let done = try await visit.post("/console/selected", fields)
            #expect(done.status == 200 && done.text.contains("2 of 3 done"), "\(done.text)")
            #expect(done.text.contains("The validation is not known"))
            for id in ids { #expect(try await setup.relay.poll(id).json["reason"].string == "abandoned") }
            let audit = try await visit.get("/console/audit?action=validation.abandon").text
            for id in ids { #expect(audit.contains(id)) }
            #expect(!audit.contains(unknown))
        }
    }

    @Test func aListIsExportedWithoutFormulas() async throws {
        try await Setup.run { setup in
            var ids: [String] = []
            for email in ["=1+1@example.test", "bob@example.test"] {
                let bought = try await setup.relay.purchase(TestPurchase(email: email))
                let id = try #require(bought.json["validationId"].string)
                _ = try await setup.relay.outcome(id)
                ids.append(id)
            }
            var visit = ConsoleVisit(setup.relay)
            #expect(try await visit.get("/console/validations?format=csv").status == 303)
            try await visit.signIn(setup.relay.keys.operator)
            // A granted purchase can be neither retried nor abandoned.
            #expect(try await !visit.get("/console/validations").text.contains("With the selected"))
            let file = try await visit.get("/console/validations?format=csv")
            #expect(file.header("Content-Type")?.hasPrefix("text/csv") == true)
            #expect(file.header("Content-Disposition") == "attachment; filename=\"validations.csv\"")
            let lines = file.text.split(separator: "\r\n")
            #expect(lines.count == 3 && lines[0].hasPrefix("\"Validation\",\"Status\""), "\(file.text)")
            #expect(lines[1].hasPrefix("\"\(ids[1])\",\"granted\"") && lines[2].contains("\"'=1+1@example.test\""))
            let one = try await visit.get("/console/validations?customerEmail=bob%40example.test&format=csv").text
            #expect(one.split(separator: "\r\n").count == 2 && one.contains(ids[1]))
            for path in ["transfers", "notifications", "webhooks", "audit"] {
                let other = try await visit.get("/console/\(path)?format=csv")
                #expect(other.status == 200 && other.text.hasPrefix("\""), "\(path)")
            }
            #expect(try await visit.get("/console/validations?olderThanSeconds=x&format=csv").status == 422)
        }
    }

    @Test(.whole) func offersWithoutAProductAreShown() async throws {
        try await Setup.run { setup in
            let bought = try await setup.relay.purchase(TestPurchase(email: "ana@example.test"))
            _ = try await setup.relay.outcome(try #require(bought.json["validationId"].string))
            var visit = ConsoleVisit(setup.relay)
            try await visit.signIn(setup.relay.keys.viewer)
            let page = try await visit.get("/console/offers").text
            #expect(page.contains("the offer has no product") && page.contains("receipt-relay offers add"), "\(page)")
        }
    }

    @Test(.whole) func heldBackItemsShowTheirReason() async throws {
        try await Setup.run(settings: ["RELAY_CLEENG_PUBLISHER_TOKEN": "a_token_that_cleeng_never_gave_out"]) { setup in
            let bought = try await setup.relay.purchase(TestPurchase(email: "ana@example.test"))
            let id = try #require(bought.json["validationId"].string)
            var visit = ConsoleVisit(setup.relay)
            try await visit.signIn(setup.relay.keys.viewer)
            let signed = visit
            let page = try await Awaiting.fact("it is held back") {
                try await signed.get("/console/validations/\(id)").text
            } holds: {
                $0.contains("held back, for the reason above; due since") && $0.contains("Cleeng refuses our token")
            }
            #expect(page.contains("Sent to Cleeng as"))
            let waiting = try await visit.get("/console/waiting").text
            #expect(waiting.contains(id) && !waiting.contains("<th scope=\"col\">Reason</th>"))
        }
    }

    @Test func aRevokedKeySignsItsSessionsOut() async throws {
        try await Setup.run { setup in
            var visit = ConsoleVisit(setup.relay)
            try await visit.signIn(setup.relay.keys.operator)
            let id = try #require(setup.relay.keys.operator.split(separator: "_").dropFirst(2).first)
            let done = try await visit.post(
                "/console/keys/\(id)/revoke", ["reason": "left the team", "token": try await visit.formToken()])
            #expect(done.status == 303)
            #expect(try await visit.get("/").status == 303)
            var viewer = ConsoleVisit(setup.relay)
            try await viewer.signIn(setup.relay.keys.viewer)
            #expect(try await viewer.get("/console/audit?action=key.revoke").text.contains("left the team"))
        }
    }

    @Test func aBadRequestIsExplainedOnThePage() async throws {
        try await Setup.run { setup in
            var visit = ConsoleVisit(setup.relay)
            try await visit.signIn(setup.relay.keys.viewer)
            for path in [
                "/console/validations?customerEmail=nobody", "/console/validations?olderThanSeconds=-1",
                "/console/validations?cursor=x", "/console/audit?action=nothing", "/console/webhooks?endpoint=1",
                "/console/subscriptions?originalTransactionId=%20%00",
            ] {
                let answer = try await visit.get(path)
                #expect(answer.status == 200 && answer.text.contains("role=\"alert\""), "\(path): \(answer.status)")
            }
            for path in ["/console/validations/\(String(repeating: "f", count: 38))", "/console/validations/%00"] {
                let answer = try await visit.get(path)
                #expect(answer.status == 404 && answer.header("Content-Type")?.hasPrefix("text/html") == true)
            }
            let attack = "%3Cscript%3Ealert(1)%3C%2Fscript%3E"
            #expect(!(try await visit.get("/console/customers?email=\(attack)").text.contains("<script>alert")))
        }
    }
}
