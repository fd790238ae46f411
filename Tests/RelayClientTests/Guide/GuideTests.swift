import Foundation
import Testing

@Suite("docs/integrate-app.md shows code that was compiled") struct GuideTests {
    private let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    @Test(
        arguments: [
            ("Snippets", "first"), ("Snippets", "token"), ("Snippets", "coupon"), ("Shop", "shop"),
            ("Shop+start", "start"), ("ReceiptObserver", "observer"),
        ])
    func isInTheGuide(file: String, name: String) throws {
        let source = try String(contentsOf: folder.appending(path: "\(file).swift"), encoding: .utf8)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let begin = try #require(lines.firstIndex { $0.hasSuffix("// begin \(name)") })
        let end = try #require(lines.firstIndex { $0.hasSuffix("// end \(name)") })
        let indent = lines[begin].prefix { $0 == " " }
        let region = lines[(begin + 1)..<end].map { String($0.trimmingPrefix(indent)) }.joined(separator: "\n")
        let guide = folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/integrate-app.md")
        let text = try String(contentsOf: guide, encoding: .utf8)
        #expect(text.contains("```swift\n\(region)\n```"), "\(file), \(name)")
    }
}
