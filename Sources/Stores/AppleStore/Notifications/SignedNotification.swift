/// A version 2 notification with its signed parts: read, not verified.
public struct SignedNotification: Sendable, Hashable {
    public let jws: CompactJWS
    public let payload: NotificationPayload
    public let transaction: SignedTransaction?
    public let renewal: SignedRenewal?

    /// - Parameter signedPayload: as written in the body.
    /// - Throws: ``ReceiptReadError`` if it or a signed part is not a JWS.
    public init(_ signedPayload: String) throws(ReceiptReadError) {
        jws = try CompactJWS(signedPayload)
        guard let payload = try? StoreJSON.decode(NotificationPayload.self, from: jws.payload) else {
            throw .malformedJWS
        }
        self.payload = payload
        transaction = try payload.data?.signedTransactionInfo.map { (text) throws(ReceiptReadError) in
            try SignedTransaction(CompactJWS(text))
        }
        renewal = try payload.data?.signedRenewalInfo.map { (text) throws(ReceiptReadError) in
            try SignedRenewal(text)
        }
    }
}

extension SignedNotification {
    /// Whether this version knows the notification's object and could read each field that the relay depends on.
    ///
    /// The relay stores a notification that is not understood, and changes nothing because of it. A later version reads
    /// it again.
    public var isUnderstood: Bool {
        payload.subject?.isReadable == true && payload.data?.isReadable != false
            && transaction?.payload.isReadable != false && renewal?.payload.isReadable != false
    }

    /// Verifies that Apple signed the notification and its parts, for one of our apps, and that the parts belong
    /// together.
    ///
    /// If the notification is not understood, only the outer signature is checked, and the app if it could be read. A
    /// rejection would lose the notification: Apple does not repeat it after a 4xx.
    public func verify(_ trust: ChainOfTrust, _ scope: StoreScope) async throws(NotGenuine) {
        try check(try await jws.verify(trust, signedDate: payload.signedDate), scope)
        // If the notification is not understood, its parts are not used.
        guard isUnderstood else { return }
        if let transaction { try await transaction.verify(trust, scope) }
        if let renewal {
            let genuine = try await renewal.jws.verify(trust, signedDate: renewal.payload.signedDate)
            try check(renewal.payload, genuine, scope)
        }
    }

    /// Checks that it is for one of our apps and that its parts belong together. Needs no signatures of the parts.
    ///
    /// - Parameter genuine: result of verifying the outer signature.
    func check(_ genuine: Genuine, _ scope: StoreScope) throws(NotGenuine) {
        // Anyone could post a transaction here: Apple signs one for every customer of any app.
        guard payload.subject != nil || payload.isNotification else {
            throw NotGenuine(.unreadable, "what is signed is no notification")
        }
        guard let subject = payload.subject, subject.isReadable else { return }
        try scope.check(genuine, environment: subject.environment, bundleId: subject.bundleId, appId: nil)
        // Receipts may lack the app's number and transactions always do. Production notifications always have it.
        guard subject.environment.kind != .production || scope.appId == nil || subject.appAppleId == scope.appId else {
            throw NotGenuine(.appId, "its app has another number")
        }
        guard isUnderstood else { return }
        if let transaction { try check(transaction.payload, genuine, scope) }
        if let renewal { try check(renewal.payload, genuine, scope) }
    }

    private func check(
        _ transaction: TransactionPayload, _ genuine: Genuine, _ scope: StoreScope
    ) throws(NotGenuine) {
        try scope.check(
            genuine, environment: transaction.environment, bundleId: transaction.bundleId, appId: nil)
        guard transaction.bundleId == payload.subject?.bundleId else {
            throw NotGenuine(.mismatch, "the transaction in it is of another app")
        }
        guard transaction.environment == payload.subject?.environment else {
            throw NotGenuine(.mismatch, "the transaction in it is of another environment")
        }
    }

    private func check(_ renewal: RenewalPayload, _ genuine: Genuine, _ scope: StoreScope) throws(NotGenuine) {
        // Renewal information names no bundle, so the notification's counts.
        try scope.check(
            genuine, environment: renewal.environment, bundleId: payload.subject?.bundleId, appId: nil)
        guard let id = renewal.originalTransactionId, id == transaction?.payload.originalTransactionId else {
            throw NotGenuine(.mismatch, "the renewal information in it is of another subscription")
        }
        guard renewal.environment == payload.subject?.environment else {
            throw NotGenuine(.mismatch, "the renewal information in it is of another environment")
        }
    }
}

/// Renewal information signed by Apple (`JWSRenewalInfo`), not verified.
public struct SignedRenewal: Sendable, Hashable {
    public let jws: CompactJWS
    public let payload: RenewalPayload

    public init(_ text: String) throws(ReceiptReadError) {
        jws = try CompactJWS(text)
        guard let payload = try? StoreJSON.decode(RenewalPayload.self, from: jws.payload) else { throw .malformedJWS }
        self.payload = payload
    }
}
