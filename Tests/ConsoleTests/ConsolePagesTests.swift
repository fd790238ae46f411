import Foundation
import Testing

@testable import Console

@Suite("Pages")
struct ConsolePagesTests {
    private func frame(_ pages: ConsolePages, _ title: String = "A <title>") -> Frame {
        var frame = Frame(title: title, assets: pages.assets)
        frame.welcome("Nora & <co>", role: "ops-operator", formToken: "f", at: .webhooks)
        return frame
    }

    private static let hostile = "<img src=x onerror=alert(1)>\"'&"

    /// Pages with this text in every place where a text is shown.
    private func pages(holding text: String) throws -> [String] {
        let pages = try ConsolePages()
        let table = Table([text], [[.init(text, href: text, tone: .ok, isCode: true, note: text)]], empty: text)
        return [
            pages.render(
                ListPage(
                    frame(pages, text), lead: text,
                    filters: [.init("a", text, value: text), .init("b", text, value: text, of: [(text, text)])],
                    wrong: text, table: table, here: text, first: text, next: text)),
            pages.render(
                DetailPage(
                    frame(pages, text), state: text, tone: .ok, lead: text, actions: [.init(text, href: text)],
                    facts: [.init(text, text, href: text)],
                    sections: [.init(text, table: table), .init(text, text: text)])),
            pages.render(
                ConfirmPage(
                    frame(pages, text), consequence: text, target: text, button: text, isGrave: true, action: text,
                    back: text, reason: text, error: text)),
            pages.render(SignInPage(frame(pages, text), next: text, error: text)),
            pages.render(ProblemPage(frame(pages, text), detail: text)),
        ]
    }

    @Test("a sign beside a combining mark is escaped", arguments: ["\u{600}", "\u{70F}", "\u{301}", "\u{200D}"])
    func marks(_ mark: String) throws {
        let text = "a" + ["<", ">", "\"", "'", "&"].map { "\(mark)\($0)\(mark)" }.joined() + "b"
        for page in try pages(holding: text) {
            for sign in ["<", ">", "\"", "'"] {
                for raw in [mark + sign, sign + mark] {
                    #expect(Array(page.utf8).firstRange(of: Array(raw.utf8)) == nil, "\(page)")
                }
            }
        }
    }

    @Test("every text in a page is escaped")
    func escaped() throws {
        for page in try pages(holding: Self.hostile) {
            #expect(page.contains("&lt;img") && !page.contains("<img"))
            #expect(!page.contains("\"'&") && !page.contains("{{"))
        }
    }

    @Test("a page shows its place, the user, and its time of refresh")
    func around() throws {
        let pages = try ConsolePages()
        var frame = frame(pages)
        frame.liveSeconds = 5
        frame.notice = "done"
        let page = pages.render(
            ListPage(frame, table: Table(["A"], [], empty: "nothing here"), here: "/console/webhooks"))
        #expect(page.contains("href=\"/console/webhooks\" aria-current=\"page\""))
        #expect(page.components(separatedBy: "aria-current").count == 2)
        #expect(page.contains("Nora &amp; &lt;co&gt;") && page.contains("data-live=\"5\""))
        #expect(page.contains("nothing here") && page.contains("<p class=\"notice\" role=\"status\">done</p>"))
        #expect(page.contains("/console/assets/\(pages.assets.version)/console.css"))
        #expect(pages.assets["console.css"] != nil && pages.assets["../secret"] == nil)
        let stranger = pages.render(SignInPage(Frame(title: "Sign in", assets: pages.assets), next: nil))
        #expect(!stranger.contains("<nav") && !stranger.contains("data-live") && !stranger.contains("name=\"next\""))
    }

    @Test("a cell's missing values are not taken from the surrounding page")
    func left() throws {
        let pages = try ConsolePages()
        let page = pages.render(
            DetailPage(
                frame(pages), state: "ok", tone: .ok, lead: "lead", facts: [.init("Label", "value")],
                sections: [.init("Part", table: Table(["One"], [[.init("x")]], empty: "none"))]))
        #expect(page.contains("<td data-label=\"One\">x</td>") && page.contains("<dd>value</dd>"))
    }

    @Test("a chosen option is chosen, and cells carry their columns for narrow screens")
    func forms() throws {
        let pages = try ConsolePages()
        let page = pages.render(
            ListPage(
                frame(pages), filters: [.init("s", "Status", value: "b", of: [("a", "A"), ("b", "B")])],
                table: Table(["One", "Two"], [[.init("x"), .init(nil)]], empty: ""), here: "/"))
        #expect(page.contains("<option value=\"b\" selected>") && !page.contains("value=\"a\" selected"))
        #expect(page.contains("<td data-label=\"One\">x</td>") && page.contains("<td data-label=\"Two\">–</td>"))
    }
}
