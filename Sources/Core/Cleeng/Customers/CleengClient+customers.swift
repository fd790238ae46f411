import NIOHTTP1
import OutboundHTTP

/// Cleeng's answer to a look-up of a customer by number.
public enum CustomerAnswer: Sendable, Equatable {
    case email(String)
    /// Cleeng knows no customer with this number.
    case unknown
    case misconfigured
    case tryAgain(CleengTrouble)
}

extension CleengClient {
    /// The customer's email as Cleeng named it in the last ten minutes; nil if it has not.
    public func knownEmail(of id: Int64) -> String? { emails.value(for: id) }

    /// Reads `GET {apiURL}/3.1/customers/{id}`, unless the email is known.
    ///
    /// - Parameter timeout: replaces the configured one if it is shorter.
    public func customer(_ id: Int64, timeout: Duration? = nil) async -> CustomerAnswer {
        if let known = knownEmail(of: id) { return .email(known) }
        let request = OutboundRequest(url: "\(configuration.apiURL)/3.1/customers/\(id)", headers: headers())
        let configured = configuration.upstreamTimeout
        let reply: HTTPReply
        do {
            let deadline = ContinuousClock.now + (timeout.map { min($0, configured) } ?? configured)
            reply = try await send(request, route: "/3.1/customers", deadline: deadline)
        } catch {
            return .tryAgain(error)
        }
        let answer = CustomerAnswer(reply)
        if case .email(let email) = answer { emails.store(email, for: id) }
        return answer
    }
}

extension CustomerAnswer {
    /// Cleeng documents 404 "Customer not found" and 400 "Invalid customerId format". Without such a message, a 404 is
    /// a wrong URL, and a 400 is retried.
    init(_ reply: HTTPReply) {
        let json = JSONValue(reply.wholeBody)
        switch reply.status {
        case 200..<300:
            if case .failure(let error) = reply.body {
                self = .tryAgain(CleengTrouble(error))
            } else if let email = (json?["data"]?["email"] ?? json?["email"])?.string {
                self = .email(email)
            } else {
                self = .tryAgain(.unreadable)
            }
        case 400 where json?["message"]?.string != nil: self = .unknown
        case 404 where reply.isAboutCustomer: self = .unknown
        case let status where StatusSorting.isMisconfiguration(status): self = .misconfigured
        default: self = .tryAgain(StatusSorting.trouble(reply.status))
        }
    }
}
