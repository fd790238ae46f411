import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import RelayFront

/// The key set that customers' tokens are verified with, from wherever the configuration says.
enum CustomerKeys {
    private static let maximumBytes = 1 << 20

    static func verifier(
        _ source: ServeSettings.CustomerJWKSSource?, _ expected: CustomerTokenVerifier.Expected, httpClient: HTTPClient
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
            return try await CustomerTokenVerifier(jwks: nil, expected: expected) {
                let response = try await httpClient.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
                guard response.status == .ok else { throw KeySetUnavailable() }
                return String(buffer: try await response.body.collect(upTo: maximumBytes))
            }
        }
    }
}

/// The address of the key set answered, but not with one.
private struct KeySetUnavailable: Error {}
