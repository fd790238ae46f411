import Foundation
import HTTPTypes

/// A header field or a query item.
package struct NamedValue: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// A complete request.
package struct Call: Sendable {
    package let method: String
    /// The path as sent.
    package let path: String
    /// The decoded parts of the path.
    package let segments: [String]
    /// The query as sent.
    package let query: String?
    package let headers: HTTPFields
    package let host: String?
    /// nil if it exceeds the limit.
    package let body: Data?
    /// Time at which the head of the request arrived.
    package let startedAt: Date

    package init(
        method: String, path: String, query: String? = nil, headers: HTTPFields = [:], host: String? = nil, body: Data?,
        startedAt: Date
    ) {
        self.method = method
        self.path = path
        // In paths, unlike queries, a plus sign does not mean a space.
        segments = path.split(separator: "/").prefix(16).map { $0.removingPercentEncoding ?? String($0) }
        self.query = query
        self.headers = headers
        self.host = host
        self.body = body
        self.startedAt = startedAt
    }

    package var queryItems: FormItems { FormItems(query) }

    package var authorization: String? { headers[.authorization] }

    /// As sent.
    package var contentType: String? { headers[.contentType] }

    /// The token of an `Authorization: Bearer` header.
    package var bearerToken: String? {
        let words = authorization?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
    }
}

/// The query of a URL or the body of a form, decoded as forms are: `+` is a space.
package struct FormItems: Sendable, Equatable {
    package private(set) var items: [NamedValue] = []

    package init(_ query: String?) {
        for pair in (query ?? "").split(separator: "&").prefix(50) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            items.append(
                NamedValue(name: Self.decode(parts[0]), value: parts.count > 1 ? Self.decode(parts[1]) : ""))
        }
    }

    /// The first value with a name.
    package subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    package func values(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    private static func decode(_ text: Substring) -> String {
        let spaced = String(text.map { $0 == "+" ? " " : $0 })
        return spaced.removingPercentEncoding ?? spaced
    }
}

/// A parsed, unverified JSON Web Signature in compact form (RFC 7515, section 7.1).
package struct UnverifiedJWS: Sendable {
    package let header: Data
    package let payload: Data
    package let signature: Data
    /// The signed bytes.
    package let signedText: Data

    /// - Returns: nil if the text is not a JWS.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let payload = Self.decode(parts[1]),
            let signature = Self.decode(parts[2])
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signedText = Data("\(parts[0]).\(parts[1])".utf8)
    }

    /// base64url without padding.
    private static func decode(_ text: Substring) -> Data? {
        guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}

extension Data {
    /// base64url without padding (RFC 7515, section 2).
    package var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
