import NIOCore
import OutboundHTTP
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

/// Lists of tags, of which one offer needs `sport` and `news`.
struct AccessibleTagListTests {
    private func reading(_ list: String, needed: [TagID]) throws -> Result<Bool, CleengTrouble> {
        let result = try #require(JSONValue(ByteBuffer(string: #"{"tags":\#(list)}"#)))
        let tags = try #require(AccessibleTags(result))
        return tags.entitlement(to: "S1_US", needed: needed).map(\.isEntitled)
    }

    @Test(
        arguments: [
            (#"["news","sport"]"#, .success(true)), (#"["news","sport",7,null,{}]"#, .success(true)),
            ("[]", .success(false)), (#"["news"]"#, .success(false)), (#"["Sport","news"]"#, .success(false)),
            ("[null]", .failure(.unreadable)), (#"["news",7]"#, .failure(.unreadable)),
            (#"["news",true]"#, .failure(.unreadable)), (#"["news",""]"#, .failure(.unreadable)),
            (#"["news",["sport"]]"#, .failure(.unreadable)), (#"["news",{"name":"sport"}]"#, .failure(.unreadable)),
        ] as [(String, Result<Bool, CleengTrouble>)])
    func aMissingTagEndsAccessOnlyWhereAllTagsAreTexts(list: String, outcome: Result<Bool, CleengTrouble>) throws {
        #expect(try reading(list, needed: ["sport", "news"]) == outcome)
    }

    @Test func aNumberIsNoTag() throws {
        #expect(try reading("[7]", needed: ["7"]) == .failure(.unreadable))
        #expect(try reading(#"["7"]"#, needed: ["7"]) == .success(true))
    }

    @Test(arguments: ["null", "7", #""sport""#, #"{"0":"sport"}"#])
    func whatIsNoListIsNoAnswer(list: String) throws {
        let result = try #require(JSONValue(ByteBuffer(string: #"{"tags":\#(list)}"#)))
        #expect(AccessibleTags(result) == nil)
    }
}
