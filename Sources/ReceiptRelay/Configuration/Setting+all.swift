extension Setting {
    /// All settings, in the order of the printed reference.
    static let all: [Setting] =
        [
            databaseURL, databaseConnections, preparedStatements,
            httpHost, httpPort,
            opsHost, opsPort,
            publisherToken, publisherID, cleengEnvironment, paymentURL, apiURL, storeKit2URL, cleengGoogleURL, driver,
            entitlementSource, tagsFile,
            maxConcurrentCalls, notificationURL, webhookSecret, webhookSignatureHeader, webhookSignatureEncoding,
            pollInterval, validationTimeout, reconcileHours, upstreamTimeout, transferPolicy, accountTokenNamespace,
            appleVerification, appleBundleIDs, appleAppID, appleEnvironments, appleExtraRoots, appleSharedSecret,
            appleRenewalLeeway, appleAPIKey, appleAPIKeyID, appleAPIIssuerID, appleAPIURL, appleAPISandboxURL,
            appleHistoryInterval, appleRevocationInterval, appleOCSPURL,
        ] + StoreModule.all.flatMap(\.settings) + [
            voidedSweep, storeRecheck,
            webhookURLs, webhookPassword, webhookSecrets, webhookRetries, webhookTimeout, webhookAllowNetworks,
            trustedProxies, keyLimit, addressLimit, maxBodyBytes, maxBodiesBytes, requireTLS,
            corsOrigins,
            customerJWKSURL, customerJWKSFile, customerJWKSMaximumAge, customerIssuer, customerAudience,
            retentionDays, receiptRetentionDays,
            encryptionKeys,
            publishersFile,
            tracingEndpoint, tracingHeaders, tracingSampleRatio, tracingServiceName,
            logLevel,
        ]

    /// The settings that a publisher may have in the file of ``publishersFile``.
    static let ofPublishers: [Setting] =
        all.filter(\.isPublishersOwn) + [
            cleengEnvironment, paymentURL, apiURL, storeKit2URL, cleengGoogleURL, entitlementSource, tagsFile,
            notificationURL,
            webhookSignatureHeader,
            webhookSignatureEncoding,
        ] + StoreModule.all.flatMap(\.addresses) + [transferPolicy, accountTokenNamespace]
}
