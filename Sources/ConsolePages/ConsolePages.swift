import Crypto
import Foundation
import Mustache

/// The console's pages: a value in, HTML out. What stands in them is escaped by the templates; nothing is put in raw.
public struct ConsolePages: Sendable {
    private let library: MustacheLibrary

    /// What the pages load besides: named by what is in them, so that a browser may keep them for ever.
    public let assets: ConsoleAssets

    /// - Throws: where a template that was built in cannot be read.
    public init() throws {
        MustacheContentTypes.register(EscapedHTML(), named: EscapedHTML.name)
        var library = MustacheLibrary()
        for (name, bytes) in Self.templates {
            // In each of them: a partial begins with the library's own way of escaping.
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

    public func render(_ page: some ConsolePage) -> String {
        library.render(page, withTemplate: type(of: page).template) ?? ""
    }
}

/// What one page shows. Its members are what its template names.
public protocol ConsolePage: Sendable {
    static var template: String { get }
    var frame: Frame { get }
}

/// Style, script and icon.
public struct ConsoleAssets: Sendable {
    public struct Asset: Sendable {
        public var type: String
        public var bytes: [UInt8]
    }

    /// Changes with what is in them.
    public let version: String
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

    public subscript(name: String) -> Asset? { byName[name] }
}
