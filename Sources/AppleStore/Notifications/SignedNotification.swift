/// A version 2 notification, with what is signed inside it: read, not verified.
public struct SignedNotification: Sendable, Hashable {
    public let jws: CompactJWS
    public let payload: NotificationPayload
    public let transaction: SignedTransaction?
    public let renewal: SignedRenewal?

    /// - Parameter signedPayload: as it stands in the body.
    /// - Throws: ``ReceiptReadError`` where it, or what is signed in it, is no JWS.
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
    /// Whether Apple signed it and each part of it, for one of our apps, and the parts belong together.
    public func verify(_ trust: ChainOfTrust, _ scope: StoreScope) async throws(NotGenuine) {
        let genuine = try await jws.verify(trust, signedDate: payload.signedDate)
        guard let subject = payload.data?.subject ?? payload.other else {
            throw NotGenuine(.unreadable, "it does not say which app it is about")
        }
        try scope.check(genuine, environment: subject.environment, bundleId: subject.bundleId, appId: nil)
        // A receipt may leave it out, a transaction always does; a notification of production never does.
        guard subject.environment.kind != .production || scope.appId == nil || subject.appAppleId == scope.appId else {
            throw NotGenuine(.appId, "its app has another number")
        }
        if let transaction { try await verify(transaction, of: subject, trust, scope) }
        if let renewal { try await verify(renewal, of: subject, trust, scope) }
    }

    private func verify(
        _ transaction: SignedTransaction, of subject: NotificationSubject, _ trust: ChainOfTrust, _ scope: StoreScope
    ) async throws(NotGenuine) {
        let payload = transaction.payload
        try await transaction.verify(trust, scope)
        guard payload.bundleId == subject.bundleId else {
            throw NotGenuine(.mismatch, "the transaction in it is of another app")
        }
        guard payload.environment == subject.environment else {
            throw NotGenuine(.mismatch, "the transaction in it is of another environment")
        }
    }

    private func verify(
        _ renewal: SignedRenewal, of subject: NotificationSubject, _ trust: ChainOfTrust, _ scope: StoreScope
    ) async throws(NotGenuine) {
        let genuine = try await renewal.jws.verify(trust, signedDate: renewal.payload.signedDate)
        // It names no bundle of its own.
        try scope.check(
            genuine, environment: renewal.payload.environment, bundleId: subject.bundleId, appId: nil)
        guard let id = renewal.payload.originalTransactionId, id == transaction?.payload.originalTransactionId else {
            throw NotGenuine(.mismatch, "the renewal information in it is of another subscription")
        }
        guard renewal.payload.environment == subject.environment else {
            throw NotGenuine(.mismatch, "the renewal information in it is of another environment")
        }
    }
}

/// Renewal information signed by Apple (`JWSRenewalInfo`). Nothing here has been verified.
public struct SignedRenewal: Sendable, Hashable {
    public let jws: CompactJWS
    public let payload: RenewalPayload

    public init(_ text: String) throws(ReceiptReadError) {
        jws = try CompactJWS(text)
        guard let payload = try? StoreJSON.decode(RenewalPayload.self, from: jws.payload) else { throw .malformedJWS }
        self.payload = payload
    }
}
