import Foundation
import Logging
import Telemetry
import Testing

struct JSONLogHandlerTests {
    let sink = CapturingSink()

    private func logger(level: Logger.Level = .trace, provider: Logger.MetadataProvider? = nil) -> Logger {
        Logger(label: "relay.test") { [sink] label in
            JSONLogHandler(label: label, level: level, sink: sink, metadataProvider: provider) {
                1_795_168_800_007
            }
        }
    }

    private func parsed(_ line: String) throws -> [String: Any] {
        #expect(line.last == "\n")
        #expect(line.dropLast().utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test func aLineIsOneJSONObjectWithItsFieldsInOrder() {
        logger().info("accepted", metadata: ["validation_id": "v1", "status": .stringConvertible(202), "app": "b"])
        #expect(
            sink.lines == [
                #"{"timestamp":"2026-11-20T10:00:00.007Z","level":"info","logger":"relay.test","message":"accepted","#
                    + #""app":"b","status":202,"validation_id":"v1"}"# + "\n"
            ])
    }

    @Test func eventsBelowTheLevelAreNotWritten() {
        let logger = logger(level: .warning)
        logger.info("quiet")
        logger.warning("loud")
        #expect(sink.lines.count == 1)
    }

    @Test(arguments: [
        ("a\nb", #"a\nb"#), ("a\r\tb", #"a\r\tb"#), ("\u{0}\u{1b}[31m", #"\u0000\u001b[31m"#),
        (#"quote " and \"#, #"quote \" and \\"#), ("\u{7f}\u{85}\u{9b}", #"\u007f\u0085\u009b"#),
        ("\u{2028}\u{2029}\u{202e}\u{2066}", #"\u2028\u2029\u202e\u2066"#), ("é ¢ — 🙂", "é ¢ — 🙂"),
    ])
    func controlCharactersAreEscaped(text: String, written: String) throws {
        logger().info("\(text)", metadata: [text: .string(text)])
        let line = try #require(sink.lines.first)
        #expect(line.contains("\"message\":\"\(written)\",\"\(written)\":\"\(written)\"}"))
        #expect(try parsed(line)["message"] as? String == text)
    }

    @Test func aLineStaysWithinItsBoundAndSaysThatItWasCut() throws {
        var metadata: Logger.Metadata = [:]
        for index in 0..<500 { metadata["key\(index)"] = .string(String(repeating: "\u{1}é", count: 4000)) }
        metadata["0first"] = "kept"
        logger().info("\(String(repeating: "\"", count: 100_000))", metadata: metadata)
        let size = try #require(sink.sizes.first)
        #expect(size <= JSONLogHandler.maximumLineBytes)
        #expect(size > JSONLogHandler.maximumLineBytes / 2)
        let object = try parsed(try #require(sink.lines.first))
        #expect(object["truncated"] as? Bool == true)
        #expect(object["0first"] as? String == "kept")
    }

    @Test func aCutNeverSplitsACharacter() throws {
        for padding in 0..<6 {
            let text = String(repeating: "x", count: padding) + String(repeating: "🙂", count: 3000)
            logger().info("m", metadata: ["value": .string(text)])
        }
        for line in sink.lines {
            let value = try #require(try parsed(line)["value"] as? String)
            #expect(value.hasSuffix("🙂…"))
            #expect(!value.contains("\u{FFFD}"))
        }
    }

    @Test func nestedMetadataIsFlattenedUnderDottedKeys() throws {
        let deep: Logger.MetadataValue = ["b": ["c": ["d": ["e": "too deep"]]], "a": "1"]
        logger().info("m", metadata: ["outer": deep, "list": ["x", .stringConvertible(2), ["k": "v"]]])
        let object = try parsed(try #require(sink.lines.first))
        #expect(object["outer.a"] as? String == "1")
        #expect(object["outer.b.c.d"] as? String == "…")
        let list = try #require(object["list"] as? [Any])
        #expect(list.count == 3)
        #expect(list[1] as? Int == 2)
    }

    @Test func numbersAndBooleansStayWhatTheyAre() throws {
        logger().info(
            "m",
            metadata: [
                "int": .stringConvertible(-3), "double": .stringConvertible(0.25), "bool": .stringConvertible(true),
                "nan": .stringConvertible(Double.nan), "took": .stringConvertible(2_000 as Int64), "text": "4",
            ])
        let line = try #require(sink.lines.first)
        #expect(line.hasSuffix(#""bool":true,"double":0.25,"int":-3,"nan":"nan","text":"4","took":2000}"# + "\n"))
    }

    @Test func metadataCannotTakeTheLinesOwnKeys() throws {
        logger().log(
            level: .error, "real", error: Trouble(), metadata: ["message": "forged", "error": "mine", "level": "x"])
        let line = try #require(sink.lines.first)
        let object = try parsed(line)
        #expect(object["message"] as? String == "real")
        #expect(object["metadata.message"] as? String == "forged")
        #expect(object["error"] as? String == "trouble")
        #expect(object["metadata.error"] as? String == "mine")
        #expect(line.components(separatedBy: "\"level\":").count == 2)
    }

    @Test func theNewestMetadataWins() throws {
        var logger = logger(provider: Logger.MetadataProvider { ["a": "provider", "b": "provider"] })
        logger[metadataKey: "instance"] = "i"
        logger[metadataKey: "a"] = "logger"
        logger.info("m", metadata: ["b": "event"])
        let object = try parsed(try #require(sink.lines.first))
        #expect(object["a"] as? String == "provider")
        #expect(object["b"] as? String == "event")
        #expect(object["instance"] as? String == "i")
        #expect(logger[metadataKey: "instance"] == "i")
    }
}

private struct Trouble: Error, CustomStringConvertible {
    let description = "trouble"
}
