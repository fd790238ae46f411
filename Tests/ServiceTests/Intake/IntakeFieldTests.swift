import Foundation
import Testing

/// JSON bodies that are not purchases: 422, with all wrong fields at once.
@Suite(.serialized) struct IntakeFieldTests {
    private static let all = [
        "customerEmail", "offerId", "receipt.transactionId", "receipt.receiptData", "appType", "applicationUsername",
    ]

    @Test func everyWrongFieldIsNamedAtOnce() async throws {
        try await Setup.run(role: "front") { setup in
            let good = RawPurchase()
            func wrong(_ body: RawPurchase) async throws -> [String] {
                let answer = try await setup.relay.post(body.data)
                expectProblem(answer, 422, "invalid_fields", String(body.text.prefix(200)))
                for error in answer.json["errors"].array ?? [] {
                    #expect(error.keys == ["field", "code", "detail"])
                    #expect(error["detail"].string?.isEmpty == false)
                }
                return answer.json.fieldErrors
            }
            let required = Self.all.prefix(4).map { "\($0) required" }.sorted()
            for empty in ["{}", #"{"receipt":{}}"#, #"{"receipt":null,"offerId":null}"#, #"{"x":1}"#] {
                let answer = try await setup.relay.post(Data(empty.utf8))
                expectProblem(answer, 422, "invalid_fields", empty)
                #expect(answer.json.fieldErrors == required, "\(empty)")
            }
            for json in [
                "0", "-1.5e300", "99999999999999999999999999999999", "true", "[]", #"["a"]"#, "{}", #"{"a":{}}"#,
            ] {
                var body = good
                for field in Self.all { body = body.with(field, json) }
                #expect(try await wrong(body) == Self.all.map { "\($0) wrong_type" }.sorted(), "\(json)")
            }
            for json in [#""text""#, "1", "[]", "true"] {
                #expect(try await wrong(good.with("receipt", json)) == ["receipt wrong_type"])
            }
            var nothing = good
            for field in Self.all { nothing = nothing.with(field, #""A\u0000B""#) }
            #expect(try await wrong(nothing) == Self.all.map { "\($0) invalid" }.sorted())
            for body in ["[]", "1", "true", "null", #""text""#, "[{}]"] {
                let answer = try await setup.relay.post(Data(body.utf8))
                expectProblem(answer, 422, "invalid_fields", body)
                #expect(answer.json.fieldErrors == [" wrong_type"])
            }
            let mixed = good.with("customerEmail", nil).with("offerId", text: "no such offer!")
                .with("receipt.transactionId", "12").with("appType", text: "android")
            #expect(
                try await wrong(mixed) == [
                    "appType invalid", "customerEmail required", "offerId invalid", "receipt.transactionId wrong_type",
                ])
            #expect(try await setup.count("validations") == 0)
        }
    }

    @Test func absurdValuesAreRefusedAndUnusualOnesAccepted() async throws {
        try await Setup.run(role: "front") { setup in
            let long = String(repeating: "a", count: 300)
            let wrong: [String: [String]] = [
                "customerEmail": [
                    "", " ", "ana", "@", "@example.test", "ana@", "a@b@example.test", "an a@example.test",
                    "ana@exa mple",
                    "ana\n@example.test", "ana@example.test\r\nBcc: x@example.test", "\(long)@example.test",
                    "ana@\(long).test", "ana\u{200b} @x.test", String(repeating: "é@", count: 200_000),
                ],
                "offerId": [
                    "", " ", "S1 US", "../../etc", "S1'; DROP TABLE x", "ä", "S1\n", String(repeating: "S", count: 101),
                ],
                "receipt.transactionId": [
                    "", "abc", "-1", "1.0", "1e5", " 1", "１２３", String(repeating: "9", count: 100_000),
                ],
                "receipt.receiptData": ["", "   ", "\r\n\t", "A\u{7}B"],
                "appType": ["", "android", "ios "],
                "applicationUsername": ["", String(repeating: "u", count: 513)],
            ]
            for (field, values) in wrong {
                for value in values {
                    let answer = try await setup.relay.post(RawPurchase().with(field, text: value).data)
                    expectProblem(answer, 422, "invalid_fields", "\(field) \(value.prefix(40))")
                    #expect(answer.json["errors"].array?.count == 1)
                    #expect(answer.json["errors"][0]["field"].string == field)
                    // The answer does not repeat the sent value.
                    #expect(value.utf8.count < 20 || !answer.text.contains(value.prefix(20)))
                }
            }
            #expect(try await setup.count("validations") == 0)
            let unusual: [String: [String]] = [
                "customerEmail": [
                    "a@b", "ana+tag=1@example.test", "o'neil@example.test", "ünï@exämple.test",
                    "\"a b\"@x.test".replacingOccurrences(of: " ", with: ""),
                ],
                "offerId": ["S598742062_US", "S598742062", "A000000001_AD", "x"],
                "receipt.transactionId": ["0", "00012", String(repeating: "9", count: 32)],
                "applicationUsername": [" ", "a,b/c?d=é&", String(repeating: "ü", count: 512)],
                "appType": ["IOS", "tvOS"],
            ]
            for (field, values) in unusual {
                for value in values {
                    let answer = try await setup.relay.post(RawPurchase().with(field, text: value).data)
                    #expect(answer.status == 202, "\(field) \(value.prefix(40)): \(answer.text)")
                }
            }
            let addresses =
                ["", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "::1%lo", "[::1]", "1.2.3.4:80", long]
                .map { RawPurchase().with("ipAddress", text: $0) }
                + ["0", "true", "[]", "{}"].map { RawPurchase().with("ipAddress", $0) }
            for body in addresses {
                let answer = try await setup.relay.post(body.data)
                #expect(answer.status == 202, "\(body.text): \(answer.text)")
                #expect(answer.json["warnings"][0]["field"].string == "ipAddress")
            }
        }
    }

    @Test func ofARepeatedFieldOnlyOneCounts() async throws {
        try await Setup.run { setup in
            let text = RawPurchase(email: "last@example.test").text
            let twice = #"{"customerEmail":"first@example.test","appType":5,"appType":"tvos","# + text.dropFirst()
            let answer = try await setup.relay.post(Data(twice.utf8))
            #expect(answer.status == 202, "\(answer.text)")
            let id = try #require(answer.json["validationId"].string)
            let told = try #require(answer.json["customerEmail"].string)
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            let forward = try await setup.simulator.requests(path: "/apple/payment").first?["body"] ?? .null
            #expect(forward["customerEmail"].string == told)
            #expect(try await setup.relay.detail(id)["customerEmail"].string == told)
        }
    }
}
