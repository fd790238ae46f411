import Foundation
import NIOHTTP1

/// A real browser without a window, controlled by the W3C's WebDriver protocol.
final class Browser: Sendable {
    struct Element: Sendable {
        fileprivate var id: String
    }

    private static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

    private let driver: ChildProcess
    private let session: String

    /// - Parameter isDark: whether pages use the dark colour scheme.
    static func run(
        width: Int = 1_280, height: Int = 900, isDark: Bool = false, _ body: (Browser) async throws -> Void
    ) async throws {
        let profile = try ScratchFolder()
        defer { profile.remove() }
        let driver = try ChildProcess("/usr/bin/chromedriver", ["--port=0"], environment: ["HOME": profile.path])
        try await driver.during {
            guard let line = await driver.line(where: { $0.contains("started successfully on port") }),
                let port = line.split(whereSeparator: { !$0.isNumber }).last
            else { throw HarnessError.notReady("chromedriver", driver.output) }
            let browser = try await Browser(driver, "http://127.0.0.1:\(port)", width, height, isDark)
            do {
                try await body(browser)
            } catch {
                _ = try? await browser.call("DELETE", "")
                throw error
            }
            _ = try await browser.call("DELETE", "")
        }
    }

    private init(_ driver: ChildProcess, _ url: String, _ width: Int, _ height: Int, _ isDark: Bool) async throws {
        self.driver = driver
        var arguments = [
            "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=\(width),\(height)",
            // A browser that runs as root requires this flag. It opens only the test's own pages.
            "--no-sandbox",
        ]
        if isDark { arguments.append("--blink-settings=preferredColorScheme=0") }
        var options: [String: Any] = ["args": arguments, "binary": "/usr/bin/chromium"]
        // A real window cannot be as narrow as a phone.
        if width < 500 {
            options["mobileEmulation"] = [
                "deviceMetrics": ["width": width, "height": height, "pixelRatio": 2, "touch": true] as [String: Any]
            ]
        }
        let wanted: [String: Any] = [
            "capabilities": [
                "alwaysMatch": [
                    "browserName": "chrome", "goog:loggingPrefs": ["browser": "ALL"],
                    "goog:chromeOptions": options,
                ] as [String: Any]
            ]
        ]
        let answer = try await HTTP.post(
            url + "/session", headers: ["Content-Type": "application/json"],
            body: JSONSerialization.data(withJSONObject: wanted))
        guard let id = answer.json["value"]["sessionId"].string else {
            throw HarnessError.notReady("chromium", [answer.text] + driver.output)
        }
        session = "\(url)/session/\(id)"
    }

    @discardableResult
    private func call(_ method: String, _ path: String, _ body: [String: Any] = [:]) async throws -> JSON {
        let data = try JSONSerialization.data(withJSONObject: body)
        let answer = try await HTTP.call(
            .init(rawValue: method), session + path, headers: ["Content-Type": "application/json"],
            body: method == "POST" ? data : nil)
        guard answer.status == 200 else { throw HarnessError.failed("\(method) \(path)", [answer.text]) }
        return answer.json["value"]
    }

    // MARK: Pages

    func open(_ url: String) async throws { try await call("POST", "/url", ["url": url]) }

    func url() async throws -> String { try await call("GET", "/url").string ?? "" }

    func title() async throws -> String { try await call("GET", "/title").string ?? "" }

    /// Screenshot as PNG.
    func screenshot() async throws -> Data {
        Data(base64Encoded: try await call("GET", "/screenshot").string ?? "") ?? Data()
    }

    /// Messages in the browser's console since the last call.
    func complaints() async throws -> [String] {
        let entries = try await call("POST", "/se/log", ["type": "browser"]).array ?? []
        return entries.filter { $0["level"].string != "DEBUG" }.map(\.description)
    }

    @discardableResult
    func evaluate(_ script: String) async throws -> JSON {
        try await call("POST", "/execute/sync", ["script": script, "args": [String]()])
    }

    // MARK: Elements

    func elements(_ selector: String) async throws -> [Element] {
        let found = try await call("POST", "/elements", ["using": "css selector", "value": selector]).array ?? []
        return found.compactMap { $0[Self.elementKey].string.map { Element(id: $0) } }
    }

    func click(_ selector: String) async throws {
        try await onElement(selector) { try await call("POST", "/element/\($0.id)/click") }
    }

    func type(_ text: String, into selector: String) async throws {
        try await onElement(selector) { try await call("POST", "/element/\($0.id)/value", ["text": text]) }
    }

    /// Text of an element, or of the whole page; empty if there is no such element.
    func text(_ selector: String = "body") async throws -> String {
        guard let element = try await elements(selector).first else { return "" }
        if let text = try? await call("GET", "/element/\(element.id)/text").string { return text }
        return try await onElement(selector) { try await call("GET", "/element/\($0.id)/text").string ?? "" }
    }

    /// Clicks an element. A page that is still loading gets the element in a moment, and a page that updates itself may
    /// replace it before the click. So the search is repeated for five seconds.
    @discardableResult
    private func onElement<Value>(_ selector: String, _ deed: (Element) async throws -> Value) async throws -> Value {
        for _ in 0..<100 {
            do {
                if let element = try await elements(selector).first { return try await deed(element) }
            } catch HarnessError.failed(_, let lines) where lines.contains(where: { $0.contains("stale element") }) {
                continue
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        let page = try await evaluate("return document.body.innerText").string ?? ""
        throw HarnessError.failed("an element like \(selector)", [page])
    }

    /// Accessible names of the elements. If a page replaces an element between search and question, the search is
    /// repeated.
    func labels(_ selector: String) async throws -> [String] {
        try await onElement("body") { _ in
            var labels: [String] = []
            for element in try await elements(selector) {
                labels.append(try await call("GET", "/element/\(element.id)/computedlabel").string ?? "")
            }
            return labels
        }
    }

    /// Sends keys to the focused element.
    func press(_ keys: String) async throws {
        let actions = keys.flatMap { key in
            [["type": "keyDown", "value": String(key)], ["type": "keyUp", "value": String(key)]]
        }
        try await call(
            "POST", "/actions", ["actions": [["type": "key", "id": "keyboard", "actions": actions] as [String: Any]]])
    }
}
