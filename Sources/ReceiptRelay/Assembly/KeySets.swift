import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import Relay

/// Loads the key sets that verify tokens, from the file or URL in the settings.
struct KeySets: Sendable {
    private static let maximumBytes = 1 << 20

    let httpClient: HTTPClient
    let logger: Logger

    func customers(
        _ source: ServeSettings.CustomerJWKSSource?, _ expected: CustomerTokenVerifier.Expected, maximumAge: Duration
    ) async throws -> CustomerTokenVerifier? {
        switch source {
        case nil: return nil
        case .file(let path):
            do {
                let keys = try await SigningKeys(jwks: String(contentsOfFile: path, encoding: .utf8))
                return CustomerTokenVerifier(keys: keys, expected: expected)
            } catch {
                throw SettingError.malformed(.customerJWKSFile, wants: "a readable JSON Web Key Set")
            }
        case .url(let url):
            return CustomerTokenVerifier(
                keys: try await fetched(from: url, of: "customers' tokens", maximumAge: maximumAge), expected: expected)
        }
    }

    /// - Parameter tokens: the tokens that the keys verify, as the log names them.
    func fetched(
        from url: String, of tokens: String, maximumAge: Duration = SigningKeys.maximumAge
    ) async throws -> SigningKeys {
        try await SigningKeys(jwks: nil, maximumAge: maximumAge) {
            do {
                let response = try await httpClient.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
                guard response.status == .ok else { throw KeySetUnavailable(status: response.status.code) }
                return String(buffer: try await response.body.collect(upTo: Self.maximumBytes))
            } catch {
                logger.warning(
                    "the key set of \(tokens) cannot be fetched: the last one serves until it is too old",
                    metadata: ["error": "\(error)"])
                throw error
            }
        }
    }
}

/// The key set's address answered with an HTTP error.
private struct KeySetUnavailable: Error, CustomStringConvertible {
    let status: UInt
    var description: String { "HTTP \(status)" }
}
