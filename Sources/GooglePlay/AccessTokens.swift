import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import OutboundHTTP
import StoreAPI

/// The access token of a service account: one at a time, kept until shortly before its end, and asked for once by all who wait.
actor AccessTokens {
    private struct Held {
        var token: String
        var until: ContinuousClock.Instant
    }

    /// What it lets us do: read purchases, among other things of the Play Console that the account was let into.
    static let scope = "https://www.googleapis.com/auth/androidpublisher"
    /// How long before its end a token is no longer used: it has to last for a call.
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
    ///   - refused: a token that Google does not take, so that it is not given out again.
    ///   - deadline: of the call that it is for. Who comes while another one asks gets that one's answer.
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
        // A JWT has no character that a form would have to encode.
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
            // What else stands in a header would be two.
            token.utf8.count <= 8_192, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return .tryAgain("token_unreadable", retryAfter: nil) }
        let life = Duration.seconds(min(max(answer["expires_in"]?.integer ?? 0, 0), 86_400))
        held = Held(token: token, until: began + life - Self.margin)
        return .found(token)
    }
}
