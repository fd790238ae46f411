import RelayCore
import RelayStore

/// A validation as `--json` prints it: the names of the ops API.
struct ValidationOutput: Encodable {
    let validationId: String
    let status: String
    let accessGranted: Bool
    let customerEmail: EmailAddress
    let offerId: OfferID
    let reason: String?
    let receivedAt: String
    let deadline: String
    let settledAt: String?
    let expiresAt: String?
    let late: Bool

    init(_ validation: Validation) {
        validationId = validation.id.description
        status = validation.status.name
        accessGranted = validation.status.accessGranted
        customerEmail = validation.email
        offerId = validation.offerID
        reason = validation.reason
        receivedAt = validation.acceptedAt.rfc3339
        deadline = validation.deadline.rfc3339
        settledAt = validation.settledAt?.rfc3339
        expiresAt = validation.expiresAt?.rfc3339
        late = validation.late
    }
}

/// Since when and why one is parked.
struct ParkingOutput: Encodable {
    let since: String
    let reason: String

    init(_ parking: Parking) {
        since = parking.since.rfc3339
        reason = parking.reason
    }
}

/// One line of the list, flat as the ops API has it.
struct ListedValidationOutput: Encodable {
    let validation: ValidationOutput
    let parked: ParkingOutput?

    private enum CodingKeys: String, CodingKey { case parked }

    init(_ item: ListedValidation) {
        validation = ValidationOutput(item.validation)
        parked = item.parking.map(ParkingOutput.init)
    }

    func encode(to encoder: any Encoder) throws {
        try validation.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(parked, forKey: .parked)
    }
}

struct ValidationPageOutput: Encodable {
    let items: [ListedValidationOutput]
    let nextCursor: String?
}

/// One validation with its timeline, for `--json` and for people.
struct ValidationDetailOutput: Encodable {
    struct Event: Encodable {
        let at: String
        let event: String
        let upstreamStatus: Int?
        let latencyMs: Int64?
        let instance: String?
        let detail: String?
    }

    struct Transfer: Encodable {
        let from: CustomerID
        let to: CustomerID
        let fromValidationId: String
        let toValidationId: String
        let at: String
    }

    let validation: ValidationOutput
    let publisher: PublisherID
    let app: BundleID
    let appType: String
    let couponCode: CouponID?
    let originalTransactionId: TransactionID
    let transactionId: TransactionID
    let environment: StoreEnvironment
    let productId: ProductID?
    let bundleId: BundleID?
    let applicationUsername: Username
    let receiptReadable: Bool
    let verification: VerificationOutput
    let driver: String
    let cleengCustomerId: Int64?
    let entitledBefore: Bool?
    let attempts: Int
    let evidence: String?
    let nextStepAt: String?
    let leaseOwner: String?
    let traceId: String?
    let parked: ParkingOutput?
    let transfer: Transfer?
    let timeline: [Event]

    private enum CodingKeys: String, CodingKey {
        case publisher, app, appType, couponCode, originalTransactionId, transactionId, environment, productId, bundleId
        case applicationUsername, receiptReadable, verification, driver, cleengCustomerId, entitledBefore, attempts
        case evidence, nextStepAt, leaseOwner, parked, transfer, traceId, timeline
    }

    /// Flat, as the ops API has it; the evidence is the JSON that is stored.
    func encode(to encoder: any Encoder) throws {
        try validation.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(publisher, forKey: .publisher)
        try container.encode(app, forKey: .app)
        try container.encode(appType, forKey: .appType)
        try container.encode(couponCode, forKey: .couponCode)
        try container.encode(originalTransactionId, forKey: .originalTransactionId)
        try container.encode(transactionId, forKey: .transactionId)
        try container.encode(environment, forKey: .environment)
        try container.encode(productId, forKey: .productId)
        try container.encode(bundleId, forKey: .bundleId)
        try container.encode(applicationUsername, forKey: .applicationUsername)
        try container.encode(receiptReadable, forKey: .receiptReadable)
        try container.encode(verification, forKey: .verification)
        try container.encode(driver, forKey: .driver)
        try container.encode(cleengCustomerId, forKey: .cleengCustomerId)
        try container.encode(entitledBefore, forKey: .entitledBefore)
        try container.encode(attempts, forKey: .attempts)
        try container.encode(evidence.flatMap(StoredJSON.init), forKey: .evidence)
        try container.encode(nextStepAt, forKey: .nextStepAt)
        try container.encode(leaseOwner, forKey: .leaseOwner)
        try container.encode(traceId, forKey: .traceId)
        try container.encode(parked, forKey: .parked)
        try container.encode(transfer, forKey: .transfer)
        try container.encode(timeline, forKey: .timeline)
    }

    init(_ detail: ValidationDetail) {
        validation = ValidationOutput(detail.validation)
        publisher = detail.validation.publisher
        app = detail.validation.app
        appType = detail.appType
        couponCode = detail.couponCode
        originalTransactionId = detail.originalTransactionID
        transactionId = detail.transactionID
        environment = detail.environment
        productId = detail.productID
        bundleId = detail.bundleID
        applicationUsername = detail.applicationUsername
        receiptReadable = detail.isReceiptReadable
        verification = VerificationOutput(detail.verification)
        driver = detail.driver.name
        cleengCustomerId = detail.cleengCustomer
        entitledBefore = detail.entitledBefore
        attempts = detail.attempts
        evidence = detail.evidence
        nextStepAt = detail.nextStepAt?.rfc3339
        leaseOwner = detail.leaseOwner
        traceId = detail.traceID
        parked = detail.parking.map(ParkingOutput.init)
        transfer = detail.transfer.map {
            Transfer(
                from: $0.from, to: $0.to, fromValidationId: $0.fromValidation.description,
                toValidationId: $0.toValidation.description, at: $0.at.rfc3339)
        }
        timeline = detail.timeline.map { entry in
            Event(
                at: entry.event.at.rfc3339, event: entry.event.kind.name, upstreamStatus: entry.event.upstreamStatus,
                latencyMs: entry.event.latency.map { $0.microseconds / 1_000 },
                instance: entry.instance.isEmpty ? nil : entry.instance, detail: entry.event.detail)
        }
    }

    func printForPeople() {
        let lines: [(String, String?)] = [
            ("validation", validation.validationId), ("status", validation.status + (validation.late ? " (late)" : "")),
            ("reason", validation.reason), ("customer", validation.customerEmail.text),
            ("offer", validation.offerId.text),
            ("accepted", validation.receivedAt), ("deadline", validation.deadline), ("settled", validation.settledAt),
            ("expires", validation.expiresAt), ("subscription", originalTransactionId.text),
            ("transaction", transactionId.text),
            ("environment", environment.text), ("product", productId?.text), ("app type", appType),
            ("coupon", couponCode?.text),
            ("receipt", receiptReadable ? "readable" : "not readable: Cleeng decides"),
            ("verification", verification.line),
            ("trace", traceId),
            ("to Cleeng", driver == "storekit2" ? "by StoreKit 2, for customer \(cleengCustomerId ?? 0)" : nil),
            ("entitled before", entitledBefore.map { $0 ? "yes" : "no" }),
            ("attempts", "\(attempts)"),
            ("evidence", evidence), ("next step", nextStepAt),
            ("parked", parked.map { "since \($0.since): \($0.reason)" }),
            ("transfer", transfer.map { "from \($0.from) to \($0.to) at \($0.at)" }),
        ]
        for case (let name, let value?) in lines {
            print("\(name)\(String(repeating: " ", count: max(1, 17 - name.count)))\(value)")
        }
        print("")
        Table(columns: ["AT", "EVENT", "HTTP", "MS", "DETAIL"]).write(
            timeline.map { event in
                [
                    event.at, event.event, event.upstreamStatus.map(String.init) ?? "-",
                    event.latencyMs.map(String.init) ?? "-", event.detail ?? "-",
                ]
            })
    }
}
