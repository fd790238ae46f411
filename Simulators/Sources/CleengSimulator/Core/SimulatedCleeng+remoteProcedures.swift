import SimulatorKit

extension SimulatedCleeng {
    /// `POST /3.0/json-rpc`: the HTTP status is always 200, errors are inside.
    mutating func remoteProcedures(_ batch: RemoteProcedureBatch) -> Reply {
        if let fault = batch.fault { return Reply(json: Self.envelope(.null, .failure(fault))) }
        var answers: [AnyJSON] = []
        for call in batch.calls {
            do throws(RemoteProcedureFault) {
                answers.append(Self.envelope(call.id, .success(try result(of: call, batch.publisherToken))))
            } catch {
                answers.append(Self.envelope(call.id, .failure(error)))
            }
        }
        return batch.isBatch ? Reply(json: answers) : Reply(json: answers[0])
    }

    /// The customer of the first call that names one.
    func owner(of batch: RemoteProcedureBatch) -> EmailAddress? {
        for call in batch.calls {
            let byToken = call.params["customerToken"]?.string.flatMap { email(ofToken: $0) }
            let byEmail = call.params["customerEmail"]?.string.flatMap { EmailAddress($0) }
            if let email = byToken ?? byEmail { return email }
        }
        return nil
    }

    private mutating func result(
        of call: RemoteProcedureCall, _ publisherToken: String
    ) throws(RemoteProcedureFault) -> AnyJSON {
        guard let method = call.method else { throw .invalidRequest }
        let params = call.params
        switch method {
        case "generateCustomerToken":
            try Self.check(params, publisherToken)
            let customer = try customer(byEmail: params)
            return .object(["token": .string(Self.tokenPrefix + String(customer.id))])
        case "getCustomer":
            return Self.customer(try customer(byToken: params))
        case "getAccessibleTags":
            try Self.check(params, publisherToken)
            let customer = try customer(byToken: params)
            let open = customer.entitlements.filter(\.status.entitles).flatMap { tags(of: $0.offerId) }
            return .object(["tags": .array(Set(open).sorted().map(AnyJSON.string))])
        case "getAccessStatus":
            return try accessStatus(params)
        case "listCustomerSubscriptions":
            try Self.check(params, publisherToken)
            return try subscriptions(of: try customer(byEmail: params), params)
        default:
            throw .unknownMethod(method)
        }
    }

    private mutating func accessStatus(_ params: AnyJSON) throws(RemoteProcedureFault) -> AnyJSON {
        let customer = try customer(byToken: params)
        guard let offer = params["offerId"]?.string else { throw .invalidArgument("offerId") }
        guard let offerId = OfferId(offer) else { throw .unknownOffer }
        if let address = params["ipAddress"], !address.isNull {
            guard let text = address.string, text.utf8.count <= 45 else { throw .invalidArgument("ipAddress") }
            if customers[customer.email]?.devices.admits(text, at: now) == false { throw .addressLimit }
        }
        let granted = customer.isEntitled(to: offerId)
        return .object([
            "accessGranted": .bool(granted), "grantType": granted ? .string("direct-purchase") : .null,
            "expiresAt": .optional(customer.expiry(of: offerId)?.unixSeconds), "purchasedDirectly": .bool(granted),
        ])
    }

    private func subscriptions(
        of customer: Customer, _ params: AnyJSON
    ) throws(RemoteProcedureFault) -> AnyJSON {
        guard let offset = params["offset"]?.integer, offset >= 0 else { throw .invalidArgument("offset") }
        guard let limit = params["limit"]?.integer, (1...100).contains(limit) else { throw .invalidArgument("limit") }
        let running = customer.entitlements.filter { $0.status.entitles && $0.offerId.kind == "S" }
        let skipped = Int(min(offset, Int64(running.count)))
        let items = running.dropFirst(skipped).prefix(Int(limit)).map(Self.subscription)
        return .object(["items": .array(items), "totalItemCount": .int(Int64(running.count))])
    }

    private static func subscription(_ entitlement: Entitlement) -> AnyJSON {
        let renews = entitlement.status == .active
        return .object([
            "subscriptionId": .int(Int64(entitlement.subscriptionId)),
            "offerId": .string(entitlement.offerId.text), "status": .string(entitlement.status.rawValue),
            "startedAt": .int(entitlement.grantedAt.unixSeconds),
            "expiresAt": .int(entitlement.expiresAt.unixSeconds),
            "nextPaymentPrice": renews ? .double(9.99) : .null, "nextPaymentCurrency": .string("USD"),
            "nextPaymentAt": renews ? .int(entitlement.expiresAt.unixSeconds) : .null,
            "paymentGateway": .string(PaymentGateway(appType: entitlement.appType).rawValue),
            "paymentMethod": .string(entitlement.appType),
            "externalPaymentId": .string(entitlement.originalTransactionId), "inTrial": .bool(false),
        ])
    }

    private static func customer(_ customer: Customer) -> AnyJSON {
        .object([
            "id": .string(String(customer.id)), "email": .string(customer.email.text), "country": .string("US"),
            "currency": .string("USD"), "locale": .string("en_US"), "firstName": .null, "lastName": .null,
        ])
    }

    private func customer(byEmail params: AnyJSON) throws(RemoteProcedureFault) -> Customer {
        guard let text = params["customerEmail"]?.string, let email = EmailAddress(text) else {
            throw .invalidArgument("customerEmail")
        }
        guard let customer = customers[email], customer.isKnown else { throw .unknownCustomer }
        return customer.shown(at: now)
    }

    private func customer(byToken params: AnyJSON) throws(RemoteProcedureFault) -> Customer {
        guard let email = params["customerToken"]?.string.flatMap({ email(ofToken: $0) }),
            let customer = customers[email], customer.isKnown
        else { throw .customerToken }
        return customer.shown(at: now)
    }

    private func email(ofToken token: String) -> EmailAddress? {
        guard token.hasPrefix(Self.tokenPrefix) else { return nil }
        return Int(token.dropFirst(Self.tokenPrefix.count)).flatMap { emailsById[$0] }
    }

    private static func check(_ params: AnyJSON, _ publisherToken: String) throws(RemoteProcedureFault) {
        guard params["publisherToken"]?.string == publisherToken else { throw .publisherToken }
    }

    private static func envelope(_ id: AnyJSON, _ result: Result<AnyJSON, RemoteProcedureFault>) -> AnyJSON {
        var fields: [String: AnyJSON] = ["jsonrpc": .string("2.0"), "id": id, "error": .null, "result": .null]
        switch result {
        case .success(let value): fields["result"] = value
        case .failure(let fault): fields["error"] = fault.json
        }
        return .object(fields)
    }

    private static let tokenPrefix = "ct_simulated_"
}

/// The body of a JSON-RPC request: one call, or up to a hundred.
struct RemoteProcedureBatch: Sendable {
    static let limit = 100

    let calls: [RemoteProcedureCall]
    /// A batch is answered with an array.
    let isBatch: Bool
    let publisherToken: String
    /// Set if the body is not JSON or contains no call.
    let fault: RemoteProcedureFault?

    init(_ body: AnyJSON?, publisherToken: String) {
        self.publisherToken = publisherToken
        switch body {
        case nil:
            (calls, isBatch, fault) = ([], false, .parseError)
        case .array(let elements) where (1...Self.limit).contains(elements.count):
            (calls, isBatch, fault) = (elements.map(RemoteProcedureCall.init), true, nil)
        case .object(let fields):
            (calls, isBatch, fault) = ([RemoteProcedureCall(.object(fields))], false, nil)
        default:
            (calls, isBatch, fault) = ([], false, .invalidRequest)
        }
    }

    /// Whether one of the calls reads entitlements.
    var readsEntitlements: Bool { calls.contains { $0.readsEntitlements } }
}

/// One JSON-RPC call.
struct RemoteProcedureCall: Sendable {
    /// Always text in the answer, even if it was sent as a number.
    let id: AnyJSON
    let method: String?
    let params: AnyJSON

    init(_ value: AnyJSON) {
        id =
            switch value["id"] {
            case .string(let text): .string(String(text.prefix(200)))
            case .int(let number): .string(String(number))
            case .double(let number): .string("\(number)")
            default: .null
            }
        method = value["method"]?.string
        params = value["params"] ?? .object([:])
    }

    var readsEntitlements: Bool { method == "getAccessStatus" || method == "getAccessibleTags" }
}

/// An error inside a JSON-RPC answer; the HTTP status is still 200.
///
/// 1 to 16 are Cleeng's own codes, negative ones those of JSON-RPC 2.0.
struct RemoteProcedureFault: Error, Equatable, Sendable {
    let code: Int64
    let message: String

    static let customerToken = RemoteProcedureFault(code: 1, message: "Customer token is empty or invalid")
    static let publisherToken = RemoteProcedureFault(code: 3, message: "Publisher token is empty or invalid")
    static let unknownOffer = RemoteProcedureFault(code: 4, message: "Offer does not exist")
    static let unknownCustomer = RemoteProcedureFault(
        code: 10, message: "Customer email is unknown or not a customer of this publisher")
    static let addressLimit = RemoteProcedureFault(code: 14, message: "IP address limit exceeded")
    static let parseError = RemoteProcedureFault(code: -32_700, message: "Parse error")
    static let invalidRequest = RemoteProcedureFault(code: -32_600, message: "Invalid request")

    static func invalidArgument(_ name: String) -> RemoteProcedureFault {
        RemoteProcedureFault(code: 11, message: "Invalid arguments: \(name)")
    }

    static func unknownMethod(_ name: String) -> RemoteProcedureFault {
        RemoteProcedureFault(code: -32_601, message: "Method not found: \(name.prefix(60))")
    }

    var json: AnyJSON { .object(["code": .int(code), "message": .string(message)]) }
}
