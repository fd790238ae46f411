import Crypto
import Foundation
import Mustache

/// Renders the console's pages: a value in, HTML out. The templates escape every value; none is inserted raw.
struct ConsolePages: Sendable {
    private let library: MustacheLibrary

    /// Files that the pages load. Their names depend on their content, so that browsers may cache them forever.
    let assets: ConsoleAssets

    /// - Throws: if a built-in template cannot be parsed.
    init() throws {
        MustacheContentTypes.register(EscapedHTML(), named: EscapedHTML.name)
        var library = MustacheLibrary()
        for (name, bytes) in Self.templates {
            // Each template sets it, because a partial starts with the library's own escaping.
            let escaping = "{{% CONTENT_TYPE: \(EscapedHTML.name)}}\n"
            try library.register(escaping + String(decoding: bytes, as: UTF8.self), named: name)
        }
        self.library = library
        assets = ConsoleAssets()
    }

    private static let templates: [(String, [UInt8])] = [
        ("layout", PackageResources.layout_mustache), ("sign_in", PackageResources.sign_in_mustache),
        ("overview", PackageResources.overview_mustache), ("table", PackageResources.table_mustache),
        ("list", PackageResources.list_mustache), ("detail", PackageResources.detail_mustache),
        ("confirm", PackageResources.confirm_mustache), ("problem", PackageResources.problem_mustache),
    ]

    func render(_ page: some ConsolePage) -> String {
        library.render(page, withTemplate: type(of: page).template) ?? ""
    }
}

/// Data of one page. The template names its members.
protocol ConsolePage: Sendable {
    static var template: String { get }
    var frame: Frame { get }
}

/// Style, script and icon.
struct ConsoleAssets: Sendable {
    struct Asset: Sendable {
        var type: String
        var bytes: [UInt8]
    }

    /// Changes with the content.
    let version: String
    private let byName: [String: Asset]

    init() {
        byName = [
            "console.css": Asset(type: "text/css; charset=utf-8", bytes: PackageResources.console_css),
            "console.js": Asset(type: "text/javascript; charset=utf-8", bytes: PackageResources.console_js),
            "icon.svg": Asset(type: "image/svg+xml", bytes: PackageResources.icon_svg),
        ]
        var hash = SHA256()
        for (_, asset) in byName.sorted(by: { $0.key < $1.key }) { hash.update(data: asset.bytes) }
        version = hash.finalize().prefix(6).map { String(format: "%02x", $0) }.joined()
    }

    subscript(name: String) -> Asset? { byName[name] }
}
