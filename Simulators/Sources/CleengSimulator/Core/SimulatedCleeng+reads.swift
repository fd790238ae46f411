import SimulatorKit

extension SimulatedCleeng {
    /// `GET /3.1/entitlements`: `{"items":[{"offerId","status","expiresAt"}],"totalItemCount"}`.
    func listEntitlements(_ query: EntitlementQuery) -> Reply {
        let email: EmailAddress? =
            switch query.subject {
            case .email(let email): email
            case .id(let id): emailsById[id]
            }
        guard let customer = email.flatMap({ customers[$0] })?.shown(at: now), customer.isKnown else {
            return unknownCustomer == .notFound ? Reply(.customerNotFound) : Self.page([], of: 0)
        }
        let matching = customer.entitlements.filter { entitlement in
            (query.status == nil || query.status == entitlement.status)
                && query.offerKinds.contains(entitlement.offerId.kind)
        }
        let items = matching.dropFirst(query.offset).prefix(query.limit).map { entitlement in
            AnyJSON.object([
                "offerId": .string(entitlement.offerId.text), "status": .string(entitlement.status.rawValue),
                "expiresAt": .int(entitlement.expiresAt.unixSeconds),
            ])
        }
        return Self.page(items, of: matching.count)
    }

    /// `GET /3.1/entitlements/customer_id/{id}/offer_id/{offerId}`: `{"accessGranted","expiresAt"}`.
    func entitlement(customerId: Int, _ offer: OfferId) -> Reply {
        guard let customer = known(customerId) else { return Reply(.customerNotFound) }
        return Reply(
            json: AnyJSON.object([
                "accessGranted": .bool(customer.isEntitled(to: offer)),
                "expiresAt": .optional(customer.expiry(of: offer)?.unixSeconds),
            ]))
    }

    /// `GET /3.1/customers/{id}`.
    func customer(id: Int) -> Reply {
        guard let customer = known(id) else { return Reply(.customerNotFound) }
        return Reply(
            json: AnyJSON.object([
                "success": .bool(true), "message": .string("OK"),
                "data": .object([
                    "id": .int(Int64(customer.id)), "email": .string(customer.email.text),
                    "country": .string("US"), "currency": .string("USD"), "locale": .string("en_US"),
                    "regDate": .int(customer.firstSeenAt.unixSeconds),
                    "lastLoginDate": .int(customer.firstSeenAt.unixSeconds),
                    "lastUserIp": .optional(customer.lastAddress),
                    "firstName": .null, "lastName": .null, "externalId": .null,
                ]),
            ]))
    }

    /// The customer with a number, if Cleeng knows one.
    func known(_ id: Int) -> Customer? {
        emailsById[id].flatMap { customers[$0] }.flatMap { $0.isKnown ? $0.shown(at: now) : nil }
    }

    private static func page(_ items: [AnyJSON], of total: Int) -> Reply {
        Reply(json: AnyJSON.object(["items": .array(items), "totalItemCount": .int(Int64(total))]))
    }
}

extension WireFault {
    static let customerNotFound = WireFault(status: 404, code: "REQ0100", message: "Customer not found")
}

/// A well-formed query of `GET /3.1/entitlements`.
struct EntitlementQuery: Sendable, Equatable {
    enum Subject: Sendable, Equatable {
        case email(EmailAddress)
        case id(Int)
    }

    let subject: Subject
    let offset: Int
    let limit: Int
    /// nil for all.
    let status: EntitlementStatus?
    /// First letters of the listed offers.
    let offerKinds: Set<Character>

    /// - Throws: 400 if `offset` or `limit` is missing (both are required), if neither `customerId` nor `customerEmail`
    ///   is given, or if a value is invalid.
    init(_ query: FormItems) throws(WireFault) {
        if let id = query["customerId"] {
            guard let number = Int(id), number > 0 else {
                throw .invalidQuery("Invalid customerId format", fields: ["customerId"])
            }
            subject = .id(number)
        } else if let text = query["customerEmail"] {
            guard let email = EmailAddress(text) else {
                let hint = text.contains(" ") ? ": a plus sign in a query is sent as %2B" : ""
                throw .invalidQuery("customerEmail is not an email address\(hint)", fields: ["customerEmail"])
            }
            subject = .email(email)
        } else {
            throw .invalidQuery("customerId or customerEmail is required", fields: ["customerId", "customerEmail"])
        }
        guard let offset = query["offset"].flatMap({ Int($0) }), offset >= 0 else {
            throw .invalidQuery("offset is required, 0 or more", fields: ["offset"])
        }
        guard let limit = query["limit"].flatMap({ Int($0) }), (1...100).contains(limit) else {
            throw .invalidQuery("limit is required, 1 to 100", fields: ["limit"])
        }
        self.offset = offset
        self.limit = limit
        switch query["status"] {
        case nil, "all": status = nil
        case .some(let text):
            guard let named = EntitlementStatus(rawValue: text) else {
                throw .invalidQuery("status is active, cancelled, terminated or all", fields: ["status"])
            }
            status = named
        }
        let kinds = query["offerType"] ?? "SP"
        guard ["S", "P", "SP", "PS", "A", "R", "SPAR"].contains(kinds) else {
            throw .invalidQuery("offerType is S, P, SP, PS, A, R or SPAR", fields: ["offerType"])
        }
        offerKinds = Set(kinds)
    }
}
