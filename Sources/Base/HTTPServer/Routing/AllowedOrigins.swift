import Formats

/// Web origins that may call routes from a browser.
public struct AllowedOrigins: Sendable, Equatable {
    /// Browsers' `Origin` values; or `*` alone.
    private let origins: [String]

    public static let none = AllowedOrigins(origins: [])

    private init(origins: [String]) { self.origins = origins }

    /// Nil unless the text is `*` or a comma-separated list of origins.
    public init?(_ text: String) {
        let parts = text.parts(at: ",").map { $0.trimmingSpace().asciiLowercased() }
        guard parts == ["*"] || parts.allSatisfy(Self.isOrigin) else { return nil }
        origins = parts
    }

    var isEmpty: Bool { origins.isEmpty }

    /// Value of `Access-Control-Allow-Origin`; nil if the origin may not call.
    func allow(_ origin: String?) -> String? {
        if origins == ["*"] { return "*" }
        return origin.flatMap { origin in origins.first { $0.isSame(origin) } }
    }

    /// RFC 6454 section 6.2: `https://shop.example.com`, `http://localhost:8100`; in web views also
    /// `ionic://localhost`, `file://`.
    private static func isOrigin(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-z][a-z0-9+.\-]*:\/\/[^\/?#@\s]*/) != nil
    }
}
