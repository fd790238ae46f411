import Foundation
import JWTKit
import Testing

@testable import GooglePlay

@Suite struct ServiceAccountTests {
    private static func changed(_ change: (inout [String: Any]) -> Void) throws -> Data {
        let json = try #require(Key.json)
        var fields = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        change(&fields)
        return try JSONSerialization.data(withJSONObject: fields)
    }

    @Test func aFileFromGoogleCloudIsRead() throws {
        let account = try Key.account()
        #expect(account.email.hasSuffix("@simulated.iam.gserviceaccount.com"))
        var dumped = ""
        dump(account, to: &dumped)
        #expect(!"\(account) \(dumped)".contains("PRIVATE KEY"))
    }

    @Test func errorsNameTheFaultAndNoContents() throws {
        let faults: [(ServiceAccount.Fault, Data)] = [
            (.notJSON, Data("-----BEGIN PRIVATE KEY-----".utf8)), (.notJSON, Data()), (.notJSON, Data("[]".utf8)),
            (.tooLarge, Data(repeating: 0x20, count: 70_000)),
            (.otherKind, try Self.changed { $0["type"] = "authorized_user" }),
            (.otherKind, try Self.changed { $0["type"] = nil }),
            (.noAddress, try Self.changed { $0["client_email"] = nil }),
            (.noAddress, try Self.changed { $0["client_email"] = "nobody" }),
            (.noKey, try Self.changed { $0["private_key"] = nil }),
            (.notAKey, try Self.changed { $0["private_key"] = "hunter2" }),
        ]
        for (fault, data) in faults {
            #expect(throws: fault) { try ServiceAccount(json: data) }
            #expect(!fault.description.contains("hunter2"))
        }
    }

    @Test func whatIsSignedNamesTheAccountTheScopeAndWhereItIsGivenIn() async throws {
        let account = try Key.account()
        let now = Date(timeIntervalSince1970: 1_790_000_000.9)
        let text = try await account.assertion(for: "scope-1", audience: "https://example.test/token", at: now)
        let parts = text.split(separator: ".")
        #expect(parts.count == 3)
        let padded = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        let data = try #require(
            Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4)))
        let claims = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(claims["iss"] as? String == account.email)
        #expect(claims["scope"] as? String == "scope-1")
        #expect(claims["aud"] as? String == "https://example.test/token")
        #expect(claims["iat"] as? Int == 1_790_000_000)
        #expect(claims["exp"] as? Int == 1_790_000_300)
    }
}
