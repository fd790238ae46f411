import Foundation
import Testing

/// `receipt-relay validations`: the ops API's data and acts from a terminal.
@Suite struct CommandTests {
    @Test func theTerminalShowsAndDoesWhatTheOpsFrontDoes() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            func run(_ arguments: String...) async throws -> (code: Int32, text: String) {
                let ended = try await ChildProcess.run(
                    "receipt-relay", ["validations"] + arguments,
                    environment: ["RELAY_DATABASE_URL": setup.database.url, "USER": "olga"])
                return (ended.code, ended.output.joined(separator: "\n"))
            }
            func json(_ arguments: String...) async throws -> JSON {
                let ended = try await ChildProcess.run(
                    "receipt-relay", ["validations"] + arguments + ["--json"],
                    environment: ["RELAY_DATABASE_URL": setup.database.url, "USER": "olga"])
                #expect(ended.code == 0, "\(arguments): \(ended.output)")
                return (try? JSON(data: Data(ended.output.joined(separator: "\n").utf8))) ?? .null
            }
            let original = TestPurchase.newTransactionID()
            let ana = try await relay.pursue("ana@example.test", original: original)
            _ = try await relay.becomes("granted", ana)
            let bea = try await relay.pursue("bea@example.test", original: original)
            _ = try await relay.becomes("granted", bea)
            let rea = try await relay.pursue("rea+reject-1@example.test")
            _ = try await relay.becomes("rejected", rea)
            let nea = try await relay.pursue("nea+never@example.test")

            let list = try await json("list")
            #expect(list["items"].array?.map { $0["validationId"].string } == [nea, rea, bea, ana])
            let first = try await json("list", "--limit", "2")
            #expect(first["items"].array?.count == 2)
            let second = try await json("list", "--cursor", try #require(first["nextCursor"].string))
            #expect(second["items"].array?.map { $0["validationId"].string } == [bea, ana])
            let transferred = try await json("list", "--status", "transferred", "--customer-email", "ANA@example.test")
            #expect(transferred["items"].array?.map { $0["validationId"].string } == [ana])
            #expect(transferred["items"][0]["accessGranted"].bool == false)
            #expect(try await json("list", "--offer-id", "S598742062_US")["items"].array?.isEmpty == true)
            #expect(try await json("list", "--older-than-seconds", "3600")["items"].array?.isEmpty == true)
            let table = try await run("list")
            #expect(table.code == 0)
            for id in [ana, bea, rea, nea] { #expect(table.text.contains(id)) }

            // Scripts find the ops API's fields under the same names.
            let shown = try await json("show", bea)
            let detail = try await relay.detail(bea)
            for key in detail.keys where !detail[key].isNull && !["publisher", "app"].contains(key) {
                if key == "verification" { continue }
                #expect(
                    shown[key] == detail[key] || shown[key].keys == detail[key].keys && !shown[key].isNull, "\(key)")
            }
            #expect(shown["timeline"].array?.count == detail["timeline"].array?.count)
            #expect(shown["transfer"]["fromValidationId"].string == ana)
            let people = try await run("show", bea)
            #expect(people.code == 0)
            #expect(people.text.contains("granted") && people.text.contains("forwarded"))

            #expect(try await run("retry", rea).code != 0)
            #expect(try await run("retry", rea, "--reason", " ").code != 0)
            let retried = try await json("retry", rea, "--reason", "asked for")
            #expect(retried["validationId"].string == rea)
            _ = try await relay.becomes("granted", rea)
            let note = try #require(try await relay.timeline(rea, "retried").first?["detail"].string)
            #expect(note.contains("olga") && note.contains("asked for"))

            let abandoned = try await json("abandon", nea, "--reason", "not wanted")
            #expect(abandoned["status"].string == "rejected")
            #expect(abandoned["reason"].string == "abandoned")
            #expect(try await relay.poll(nea).json["reason"].string == "abandoned")

            for refused in [["retry", ana], ["abandon", bea]] {
                #expect(try await run(refused[0], refused[1], "--reason", "x").code == 1)
            }
            #expect(try await run("show", String(repeating: "0", count: 38)).code == 1)
            #expect(try await run("show", "nothing").code != 0)
            #expect(try await run("list", "--status", "lost").code != 0)
        }
    }
}
