import Formats
import NIOCore
import NIOHTTP1
import OutboundHTTP
import RelayCore

extension CleengClient {
    /// An answer that ends the read early.
    private struct Ended: Error {
        var answer: EntitlementReply

        init(_ verdict: EntitlementReply.Verdict, status: Int?) {
            answer = EntitlementReply(verdict: verdict, status: status)
        }
    }

    /// Calls `generateCustomerToken`, unless a token is cached, then `getAccessibleTags`, within one deadline. If
    /// Cleeng refuses the token, it is replaced once.
    ///
    /// An offer is entitled when all of its tags are accessible. Tags have no status and no end. If an element of the
    /// list is not a text, a missing tag may be accessible: the entitlement is then unknown.
    func readAccessibleTags(
        customerEmail: EmailAddress, offers: [OfferID], deadline: ContinuousClock.Instant
    ) async -> EntitlementReply {
        do throws(Ended) {
            for _ in 0..<2 {
                guard let token = try await customerToken(customerEmail, deadline: deadline) else {
                    return entitlementReply(offers, tags: .none, status: 200)
                }
                let scrubber = MessageScrubber(
                    hiding: [configuration.publisherToken.exposed, customerEmail.text, token.exposed])
                let (reply, status) = try await call(
                    "getAccessibleTags", ["customerToken": token.exposed], scrubber: scrubber, deadline: deadline)
                switch reply {
                case .result(let result):
                    guard let tags = AccessibleTags(result) else {
                        throw Ended(.tryAgain(.unreadable, retryAfter: nil), status: status)
                    }
                    return entitlementReply(offers, tags: tags, status: status)
                case .failed(JSONRPCError.customerToken, _):
                    tokens.remove(customerEmail)
                case .failed(let code, let message):
                    throw Self.ended(code: code, message: message, status: status)
                case .verdict(let verdict):
                    throw Ended(verdict, status: status)
                }
            }
            return EntitlementReply(verdict: .tryAgain(.customerToken, retryAfter: nil), status: 200)
        } catch {
            return error.answer
        }
    }

    /// The customer's token; nil if Cleeng does not know the customer.
    private func customerToken(
        _ customerEmail: EmailAddress, deadline: ContinuousClock.Instant
    ) async throws(Ended) -> Secret? {
        if let known = tokens.value(for: customerEmail) { return known }
        let (reply, status) = try await call(
            "generateCustomerToken", ["customerEmail": customerEmail.text], scrubber: scrubber(for: customerEmail),
            deadline: deadline)
        switch reply {
        case .result(let result):
            guard let token = result["token"]?.string, (1...4096).contains(token.utf8.count) else {
                throw Ended(.tryAgain(.unreadable, retryAfter: nil), status: status)
            }
            let secret = Secret(token)
            tokens.store(secret, for: customerEmail)
            return secret
        case .failed(JSONRPCError.unknownCustomer, _): return nil
        case .failed(let code, let message):
            throw Self.ended(code: code, message: message, status: status)
        case .verdict(let verdict):
            throw Ended(verdict, status: status)
        }
    }

    private func call(
        _ method: StaticString, _ parameters: KeyValuePairs<StaticString, String>, scrubber: MessageScrubber,
        deadline: ContinuousClock.Instant
    ) async throws(Ended) -> (JSONRPCReply, status: Int) {
        let body = JSONWriter.body { writer in
            writer.member("jsonrpc", "2.0")
            writer.member("id", "1")
            writer.member("method", "\(method)")
            writer.object("params") { writer in
                writer.member("publisherToken", configuration.publisherToken.exposed)
                for (name, value) in parameters { writer.member(name, value) }
            }
        }
        let request = OutboundRequest(
            url: configuration.apiURL + "/3.0/json-rpc", method: .POST,
            headers: ["Accept": "application/json", "Content-Type": "application/json"], body: body)
        do {
            let reply = try await send(request, route: "/3.0/json-rpc#\(method)", deadline: deadline)
            return (JSONRPCReply(reply, scrubber: scrubber), reply.status)
        } catch {
            throw Ended(.tryAgain(error, retryAfter: nil), status: nil)
        }
    }

    private static func ended(code: Int?, message: String?, status: Int) -> Ended {
        let isOurs = code.map(JSONRPCError.misconfigurations.contains) ?? false
        return Ended(
            isOurs ? .misconfigured(message: message) : .tryAgain(.remoteProcedure, retryAfter: nil), status: status)
    }

    private func entitlementReply(_ offers: [OfferID], tags: AccessibleTags, status: Int) -> EntitlementReply {
        EntitlementReply(offers, status: status) { offer in
            tags.entitlement(to: offer, needed: configuration.tagsByOffer[offer] ?? [TagID(offer.text)])
        }
    }
}

/// The answer to one JSON-RPC call. Errors are in the body; Cleeng's HTTP status is 200 in both cases.
enum JSONRPCReply: Equatable {
    case result(JSONValue)
    case failed(code: Int?, message: String?)
    case verdict(EntitlementReply.Verdict)

    init(_ reply: HTTPReply, scrubber: MessageScrubber) {
        // An error object counts whatever the status, since it is more exact.
        let json = JSONValue(reply.wholeBody)
        let error = json?["error"]
        if let error, error.isObject {
            self = .failed(
                code: error["code"]?.scalarText.flatMap { Int($0) },
                message: error["message"]?.string.flatMap(scrubber.clean))
            return
        }
        guard (200..<300).contains(reply.status) else {
            self = .verdict(.init(failed: reply, scrubber: scrubber))
            return
        }
        if case .failure(let error) = reply.body {
            self = .verdict(.tryAgain(CleengTrouble(error), retryAfter: nil))
        } else if error == nil, let result = json?["result"], result.isObject {
            self = .result(result)
        } else {
            self = .verdict(.tryAgain(.unreadable, retryAfter: nil))
        }
    }
}

/// Codes of Cleeng's JSON-RPC errors that the relay handles specially (reference "JS API", version 2.0).
///
/// Any other code is retried. That includes 11, a missing or invalid argument, which proves nothing about the
/// customer's access.
enum JSONRPCError {
    /// The customer's token is empty or invalid.
    static let customerToken = 1
    /// The publisher's token is invalid; or an enterprise account is required, or access is denied.
    static let misconfigurations: Set<Int> = [3, 5]
    /// The email is unknown, or belongs to another publisher.
    static let unknownCustomer = 10
}
