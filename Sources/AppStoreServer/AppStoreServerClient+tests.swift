import Formats
import NIOHTTP1
public import RelayCore

/// How far a test notification has come (`GET /inApps/v1/notifications/test/{testNotificationToken}`).
public struct TestNotificationStatus: Sendable, Equatable, Decodable {
    public struct Attempt: Sendable, Equatable, Decodable {
        /// In milliseconds since 1970.
        public var attemptDate: Int64
        /// `SUCCESS`, or why it failed.
        public var sendAttemptResult: String
    }

    /// As it stands in the body that is sent. Nobody has verified it.
    public var signedPayload: String
    public var sendAttempts: [Attempt]
}

extension AppStoreServerClient {
    /// Has the App Store send a notification of the type TEST to the URL that is configured for the app.
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

    /// Asks how far a test notification has come. ``AppStoreAnswer/unknown`` until the App Store knows of an attempt.
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
