import Formats
import Foundation
import HTTPServer
import RelayCore

/// A publisher's id with one of its keys, as Fovea's clients send them: `appName` and `apiKey`.
struct NamedCredentials: Sendable, Equatable {
    /// Longer credentials are invalid: an id has at most 63 characters, a key 128.
    private static let mostBytes = 400

    var publisher: PublisherID
    var key: String

    /// Reads `Authorization: Basic` or `Bearer` with base64 of `appName:apiKey`, else both from the query. After
    /// `Bearer` the plain pair is accepted too. Nil if there is neither.
    init?(authorization: String?, query: QueryItems) {
        if let authorization {
            guard let pair = Self.pair(authorization) else { return nil }
            self = pair
        } else if let publisher = query["appName"], let key = query["apiKey"] {
            self.init(publisher: PublisherID(publisher), key: key)
        } else {
            return nil
        }
    }

    private init(publisher: PublisherID, key: String) {
        self.publisher = publisher
        self.key = key
    }

    private static func pair(_ header: String) -> NamedCredentials? {
        guard let (name, credentials) = header.halves(at: " "), header.utf8.count <= mostBytes else { return nil }
        let scheme = name.lowercased()
        guard scheme == "basic" || scheme == "bearer" else { return nil }
        let text = credentials.trimmingCharacters(in: .whitespaces)
        if let data = Data(base64Encoded: text), let pair = split(String(decoding: data, as: UTF8.self)) { return pair }
        return scheme == "bearer" ? split(text) : nil
    }

    private static func split(_ text: String) -> NamedCredentials? {
        guard let (publisher, key) = text.halves(at: ":") else { return nil }
        return NamedCredentials(publisher: PublisherID(publisher), key: String(key))
    }
}
