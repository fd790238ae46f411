import AsyncHTTPClient
import NIOHTTP1
import OutboundHTTP

/// Who a customer is whom Cleeng names by a number.
public enum CustomerAnswer: Sendable, Equatable {
    case email(String)
    /// Cleeng knows nobody by it.
    case unknown
    case misconfigured
    case tryAgain(CleengTrouble)
}

extension CleengClient {
    /// Reads `GET {apiURL}/3.1/customers/{id}`.
    public func customer(_ id: Int64) async -> CustomerAnswer {
        let request = OutboundRequest(url: "\(configuration.apiURL)/3.1/customers/\(id)", headers: headers())
        let reply: HTTPReply
        do {
            let deadline = ContinuousClock.now + configuration.upstreamTimeout
            reply = try await send(request, route: "/3.1/customers", deadline: deadline)
        } catch {
            return .tryAgain(error)
        }
        switch reply.status {
        case 200..<300:
            if case .failure(let error) = reply.body { return .tryAgain(CleengTrouble(error)) }
            let json = JSONValue(reply.wholeBody)
            guard let email = (json?["data"]?["email"] ?? json?["email"])?.string else { return .tryAgain(.unreadable) }
            return .email(email)
        case 400, 404: return .unknown
        case let status where StatusSorting.isMisconfiguration(status): return .misconfigured
        default: return .tryAgain(StatusSorting.trouble(reply.status))
        }
    }
}
