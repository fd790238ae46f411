import Testing

@testable import SimulatorKit
@testable import StoreSimulator

@Suite struct AcknowledgementTests {
    private let subscription = "subscriptions/gold/tokens/t:acknowledge"
    private let product = "products/film/tokens/p:acknowledge"

    @Test(arguments: ["", "{}", #"{"developerPayload":"x"}"#])
    func aSubscriptionIsAcknowledgedOnceAndCountedEachTime(body: String) throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "subscriptions/t", #"{"isAcknowledged":false}"#)
        #expect(bench.acknowledgementState("t") == "ACKNOWLEDGEMENT_STATE_PENDING")
        #expect(try bench.control("GET", "subscriptions/t").json["acknowledgements"] as? Int == 0)
        for count in 1...2 {
            let answer = try #require(bench.api("POST", subscription, body: body))
            #expect(answer.status == 200 && answer.text == "")
            #expect(bench.acknowledgementState("t") == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")
            #expect(try bench.control("GET", "subscriptions/t").json["acknowledgements"] as? Int == count)
        }
    }

    @Test func aProductIsAcknowledgedOnceAndCountedEachTime() throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "products/p", #"{"isAcknowledged":false}"#)
        func state() -> Int? { bench.api("GET", "products/film/tokens/p")?.json["acknowledgementState"] as? Int }
        #expect(state() == 0)
        for count in 1...2 {
            #expect(bench.api("POST", product)?.status == 200)
            #expect(state() == 1)
            #expect(try bench.control("GET", "products/p").json["acknowledgements"] as? Int == count)
        }
    }

    @Test func whatIsNotSaidToBeUnacknowledgedIsAcknowledged() throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "subscriptions/t", "{}")
        try bench.control("PUT", "products/p", "{}")
        #expect(bench.acknowledgementState("t") == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")
        #expect(bench.api("GET", "products/film/tokens/p")?.json["acknowledgementState"] as? Int == 1)
    }

    @Test func whatIsNotPaidUnknownOrForgottenIsRefused() throws {
        let bench = try GoogleBench()
        for state in ["PENDING", "PENDING_PURCHASE_CANCELED"] {
            try bench.control("PUT", "subscriptions/t", #"{"isAcknowledged":false,"state":"\#(state)"}"#)
            #expect(bench.api("POST", subscription)?.status == 400, "\(state)")
        }
        #expect(try bench.control("GET", "subscriptions/t").json["acknowledgements"] as? Int == 0)
        try bench.control("PUT", "products/p", #"{"purchaseState":2}"#)
        #expect(bench.api("POST", product)?.status == 400)
        for path in ["subscriptions/gold/tokens/x:acknowledge", "products/film/tokens/t:acknowledge"] {
            #expect(bench.api("POST", path)?.status == 404, "\(path)")
        }
        try bench.control("PUT", "subscriptions/t", "{}")
        #expect(bench.api("POST", "subscriptions/silver/tokens/t:acknowledge")?.status == 404, "another product")
        for (collection, token) in [("subscriptions", "t"), ("products", "p")] {
            try bench.control("POST", "\(collection)/\(token)/forget")
        }
        #expect(bench.api("POST", subscription)?.status == 410)
        #expect(bench.api("POST", product)?.status == 410)
    }

    @Test func itTakesATokenAPostAndABodyThatIsOne() throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "subscriptions/t", "{}")
        #expect(bench.api("POST", subscription, authorized: false)?.status == 401)
        #expect(bench.api("GET", subscription)?.status == 405)
        for body in ["x", "[]", #"{"developerPayload":1}"#, #"{"payload":"x"}"#] {
            #expect(bench.api("POST", subscription, body: body)?.status == 400, "\(body)")
        }
        #expect(bench.api("POST", "subscriptionsv2/tokens/t")?.status == 405)
        #expect(try bench.control("GET", "subscriptions/t").json["acknowledgements"] as? Int == 0)
    }

    @Test func aTroubleOfItsOwnKeepsItFromTakingEffectUnlessItOnlyComesLate() throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "subscriptions/t", #"{"isAcknowledged":false}"#)
        for trouble in [#""status":503"#, #""hang":true"#, #""reset":true"#] {
            try bench.control("PUT", "trouble", #"{"on":"acknowledge","times":1,\#(trouble)}"#)
            #expect(bench.api("POST", subscription)?.status != 200, "\(trouble)")
            #expect(bench.acknowledgementState("t") == "ACKNOWLEDGEMENT_STATE_PENDING", "\(trouble)")
        }
        try bench.control("PUT", "trouble", #"{"on":"purchases","status":503}"#)
        #expect(bench.api("POST", subscription)?.status == 200)
        try bench.control("PUT", "trouble", #"{"on":"acknowledge","delayMilliseconds":1}"#)
        #expect(bench.api("POST", subscription)?.status == 200)
        #expect(try bench.control("GET", "subscriptions/t").json["acknowledgements"] as? Int == 2)
    }
}
