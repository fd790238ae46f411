extension Setting {
    /// In the order in which they are printed.
    static let all: [Setting] = [
        databaseURL, databaseConnections, preparedStatements,
        httpHost, httpPort,
        opsHost, opsPort,
        publisherToken, publisherID, cleengEnvironment, paymentURL, apiURL, storeKit2URL, driver, entitlementSource,
        tagsFile,
        maxConcurrentCalls, notificationURL, webhookSecret, webhookSignatureHeader, webhookSignatureEncoding,
        pollInterval, validationTimeout, reconcileHours, upstreamTimeout,
        appleVerification, appleBundleIDs, appleAppID, appleEnvironments, appleExtraRoots, appleSharedSecret,
        appleRenewalLeeway, appleAPIKey, appleAPIKeyID, appleAPIIssuerID, appleAPIURL, appleAPISandboxURL,
        appleHistoryInterval,
        googleServiceAccountFile, googleAPIURL, googleTokenURL,
        amazonSharedSecret, amazonRVSURL,
        webhookURLs, webhookPassword, webhookSecrets, webhookRetries, webhookTimeout, webhookAllowNetworks,
        trustedProxies, keyLimit, addressLimit, maxBodyBytes, maxBodiesBytes, requireTLS,
        customerJWKSURL, customerJWKSFile, customerJWKSMaximumAge, customerIssuer, customerAudience,
        retentionDays, receiptRetentionDays,
        encryptionKeys,
        publishersFile,
        tracingEndpoint, tracingHeaders, tracingSampleRatio, tracingServiceName,
        logLevel,
    ]

    /// What may stand in the file that ``publishersFile`` names.
    static let ofPublishers: [Setting] =
        all.filter(\.isPublishersOwn) + [
            cleengEnvironment, paymentURL, apiURL, storeKit2URL, entitlementSource, tagsFile, notificationURL,
            webhookSignatureHeader,
            webhookSignatureEncoding, googleAPIURL, googleTokenURL, amazonRVSURL,
        ]
}
