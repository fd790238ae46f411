import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import OutboundHTTP
import StoreAPI

/// The access token of a service account. One token is kept until shortly before its end; concurrent callers share one
/// request.
actor AccessTokens {
    private struct Held {
        var token: String
        var until: ContinuousClock.Instant
    }

    /// Scope that allows reading purchases, among other things in the Play Console that the account may access.
    static let scope = "https://www.googleapis.com/auth/androidpublisher"
    /// A token is not used in its last minute, because it must last for a call.
    private static let margin = Duration.seconds(60)
    private static let mostBytes = 65_536

    private let account: ServiceAccount
    private let url: String
    private let httpClient: HTTPClient
    private var held: Held?
    private var asking: Task<StoreAnswer<String>, Never>?

    init(account: ServiceAccount, url: String, httpClient: HTTPClient) {
        self.account = account
        self.url = url
        self.httpClient = httpClient
    }

    /// - Parameters:
    ///   - refused: a token that Google rejected, which must not be returned again.
    ///   - deadline: of the caller's request. A caller that arrives during another's request gets the same answer.
    func token(insteadOf refused: String? = nil, by deadline: ContinuousClock.Instant) async -> StoreAnswer<String> {
        if held?.token == refused { held = nil }
        if let held, held.until > .now { return .found(held.token) }
        if let asking { return await asking.value }
        let task = Task { await ask(by: deadline) }
        asking = task
        return await task.value
    }

    private func ask(by deadline: ContinuousClock.Instant) async -> StoreAnswer<String> {
        defer { asking = nil }
        let began = ContinuousClock.now
        guard let assertion = try? await account.assertion(for: Self.scope, audience: url, at: Date()) else {
            return .misconfigured("the service account's key cannot sign")
        }
        // A JWT has no characters that a form must encode.
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let request = OutboundRequest(
            url: url, method: .POST,
            headers: ["Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"],
            body: ByteBuffer(string: form))
        let reply: HTTPReply
        do {
            reply = try await HTTPExchange(httpClient, by: deadline, atMost: Self.mostBytes)
                .send(request, route: "token").whole()
        } catch {
            return .tryAgain("token_\(error.rawValue)", retryAfter: nil)
        }
        guard reply.status == 200 else { return GoogleRefusal.token(reply) }
        guard let answer = JSONValue(reply.wholeBody), let token = answer["access_token"]?.text,
            // Other characters would split the header.
            token.utf8.count <= 8_192, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return .tryAgain("token_unreadable", retryAfter: nil) }
        let life = Duration.seconds(min(max(answer["expires_in"]?.integer ?? 0, 0), 86_400))
        held = Held(token: token, until: began + life - Self.margin)
        return .found(token)
    }
}
