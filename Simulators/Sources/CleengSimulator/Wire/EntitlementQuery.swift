/// A well-formed query of `GET /3.1/entitlements`.
struct EntitlementQuery: Sendable, Equatable {
    enum Subject: Sendable, Equatable {
        case email(CustomerEmail)
        case id(Int)
    }

    let subject: Subject
    let offset: Int
    let limit: Int
    /// nil for all.
    let status: EntitlementStatus?
    /// The first letters of the offers that are listed.
    let offerKinds: Set<Character>

    /// - Throws: 400 where `offset` or `limit` is missing (both are required), where neither `customerId` nor
    ///   `customerEmail` is there, or where a value makes no sense.
    init(_ query: QueryItems) throws(WireFault) {
        if let id = query["customerId"] {
            guard let number = Int(id), number > 0 else {
                throw .invalidQuery("Invalid customerId format", fields: ["customerId"])
            }
            subject = .id(number)
        } else if let text = query["customerEmail"] {
            guard let email = CustomerEmail(text) else {
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
