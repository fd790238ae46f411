public import AppleStore
import HTTPServer
public import RelayCore

/// The App Store's notifications of both versions. Apple's signature or the shared secret proves them.
public struct AppleNotifications: NotificationSource {
    public let store = StorePlatform.apple
    private let policy: NotificationPolicy

    public init(policy: NotificationPolicy) { self.policy = policy }

    public func read(_ body: [UInt8], now: Timestamp) async throws -> StoreNotification {
        do {
            return try await policy.judge(try Self.parse(body))
        } catch let refusal as NotGenuine {
            throw NotificationRefusal(code: refusal.code.rawValue, detail: refusal.detail)
        }
    }

    private static func parse(_ bytes: [UInt8]) throws -> ServerNotification {
        do {
            return try ServerNotification(body: bytes)
        } catch ServerNotification.ReadError.notJSON {
            throw Problem(.notJSON, "the body is not JSON")
        } catch ServerNotification.ReadError.neitherVersion {
            throw Problem(
                .notANotification, "it has neither signedPayload (version 2) nor notification_type (version 1)")
        } catch {
            throw NotGenuine(.unreadable, "what it calls signed is no JWS, or holds none")
        }
    }
}
