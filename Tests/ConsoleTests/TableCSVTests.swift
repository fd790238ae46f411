import Testing

@testable import Console

@Suite("A table as a file for spreadsheets")
struct TableCSVTests {
    @Test("every cell is quoted, and formulas begin with an apostrophe")
    func fields() {
        for (text, field) in [
            ("a", "\"a\""), ("", "\"\""), ("a\"b,c\r\nd", "\"a\"\"b,c\r\nd\""), ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""), ("@A1", "\"'@A1\""), ("\t=1", "\"'\t=1\""), ("\r\n=1", "\"'\r\n=1\""),
            ("\u{FF1D}1", "\"'\u{FF1D}1\""),
            ("=\"x\"", "\"'=\"\"x\"\"\""),
            // A combining mark forms one character with the character next to it.
            ("a\"\u{301},b", "\"a\"\"\u{301},b\""), ("a\u{600}\"b", "\"a\u{600}\"\"b\""),
        ] {
            #expect(Array(Table.field(text).utf8) == Array(field.utf8))
        }
    }

    @Test("fillers are omitted, notes are in brackets, and columns of controls are dropped")
    func rows() {
        let table = Table(
            ["Name", "State", "Replay"],
            [
                [.init("a", pick: "a"), .init("late", note: "since ten"), .init("Replay", href: "/x")],
                [.init("b"), .init(nil)],
            ],
            empty: "none")
        #expect(
            table.csv(dropping: ["Replay"], hasHeader: true)
                == "\"Name\",\"State\"\r\n\"a\",\"late (since ten)\"\r\n\"b\",\"\"\r\n")
        #expect(Table(["A"], [], empty: "none").csv(hasHeader: false).isEmpty)
    }
}
