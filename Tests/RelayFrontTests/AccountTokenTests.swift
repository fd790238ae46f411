import Foundation
import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite struct AccountTokenTests {
    @Test(arguments: ["", "2ed6657d", "2ed6657d-e927-568b-95e1-2665a8aea6ag", "2ed6657de927568b95e12665a8aea6a2", "é"])
    func isNone(text: String) { #expect(AccountToken(text) == nil) }

    @Test func theCaseDoesNotMatter() throws {
        let token = try #require(AccountToken("2ed6657d-e927-568b-95e1-2665a8aea6a2"))
        #expect(token == AccountToken("2ED6657D-E927-568B-95E1-2665A8AEA6A2"))
    }

    /// Values from other implementations of RFC 9562.
    @Test func version5() throws {
        let dns = try #require(AccountToken("6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        #expect(AccountToken("www.example.com", in: dns) == AccountToken("2ed6657d-e927-568b-95e1-2665a8aea6a2"))
        let main = AccountToken.namespace(of: "main")
        #expect(main != nil && main == AccountToken("66fa465b-ce52-52eb-899b-e24ce53a959b"))
    }

    @Test func whoIsNamed() throws {
        let rules = TransferRules(.requireToken)
        let uuid = "2ed6657d-e927-568b-95e1-2665a8aea6a2"
        #expect(rules.names(Username(uuid), of: "main", by: uuid.uppercased()))
        #expect(rules.names("ben@example.test", of: "main", by: "5342f28c-2691-5f02-856a-27f536446946"))
        #expect(!rules.names("ben@example.test", of: "other", by: "5342f28c-2691-5f02-856a-27f536446946"))
        #expect(!rules.names("ben@example.test", of: "main", by: "ben@example.test"))
        #expect(!rules.names("ben@example.test", of: "main", by: nil))
        let own = TransferRules(.requireToken, namespace: AccountToken(uuid))
        #expect(!own.names("ben@example.test", of: "main", by: "5342f28c-2691-5f02-856a-27f536446946"))
    }
}
