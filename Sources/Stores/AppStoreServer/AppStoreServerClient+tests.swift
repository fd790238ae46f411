import Formats
import NIOHTTP1
public import RelayCore

/// Delivery status of a test notification (`GET /inApps/v1/notifications/test/{testNotificationToken}`).
public struct TestNotificationStatus: Sendable, Equatable, Decodable {
    public struct Attempt: Sendable, Equatable, Decodable {
        /// In milliseconds since 1970.
        public var attemptDate: Int64
        /// `SUCCESS`, or why it failed.
        public var sendAttemptResult: String
    }

    /// As written in the posted body. Not verified.
    public var signedPayload: String
    public var sendAttempts: [Attempt]
}

extension AppStoreServerClient {
    /// Asks the App Store to send a TEST notification to the URL that is configured for the app.
    ///
    /// - Returns: a token for ``testNotification(_:in:bundleID:)``.
    public func requestTestNotification(
        in environment: Environment, bundleID: BundleID
    ) async -> AppStoreAnswer<String> {
        struct Answer: Decodable { let testNotificationToken: String }
        return await call(
            .POST, "/inApps/v1/notifications/test", in: environment, bundleID: bundleID, body: nil
        ) { (answer: Answer) in
            answer.testNotificationToken
        }
    }

    /// Returns the delivery status of a test notification. ``AppStoreAnswer/unknown`` until the App Store has recorded
    /// an attempt.
    public func testNotification(
        _ token: String, in environment: Environment, bundleID: BundleID
    ) async -> AppStoreAnswer<TestNotificationStatus> {
        await call(
            .GET, "/inApps/v1/notifications/test/\(token.percentEncoded)", in: environment, bundleID: bundleID,
            body: nil
        ) { (answer: TestNotificationStatus) in
            answer
        }
    }
}
