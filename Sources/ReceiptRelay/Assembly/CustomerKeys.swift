import ArgumentParser
import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import RelayFront

/// The key set that customers' tokens are verified with, from wherever the configuration says.
enum CustomerKeys {
    private static let maximumBytes = 1 << 20

    static func verifier(
        _ source: ServeSettings.CustomerJWKSSource?, _ expected: CustomerTokenVerifier.Expected, maximumAge: Duration,
        httpClient: HTTPClient, logger: Logger
    ) async throws -> CustomerTokenVerifier? {
        switch source {
        case nil: return nil
        case .file(let path):
            do {
                return try await CustomerTokenVerifier(
                    jwks: String(contentsOfFile: path, encoding: .utf8), expected: expected)
            } catch {
                ConfigurationOption.complain(
                    "\(SettingError.malformed(Setting.customerJWKSFile.name, wants: "a readable JSON Web Key Set"))")
                throw ExitCodes.configuration
            }
        case .url(let url):
            return try await CustomerTokenVerifier(jwks: nil, expected: expected, maximumAge: maximumAge) {
                do {
                    let response = try await httpClient.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
                    guard response.status == .ok else { throw KeySetUnavailable(status: response.status.code) }
                    return String(buffer: try await response.body.collect(upTo: maximumBytes))
                } catch {
                    logger.warning(
                        "the key set of customers' tokens cannot be fetched: the last one serves until it is too old",
                        metadata: ["error": "\(error)"])
                    throw error
                }
            }
        }
    }
}

/// The address of the key set answered, but not with one.
private struct KeySetUnavailable: Error, CustomStringConvertible {
    let status: UInt
    var description: String { "HTTP \(status)" }
}
