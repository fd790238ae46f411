import HTTPServer
public import HTTPTypes
public import Hummingbird
public import Logging
public import RelayCore

/// One store's notifications, and the check that they are genuine.
public protocol NotificationSource: Sendable {
    var store: StorePlatform { get }

    /// Refuses a notification by its header fields, before the body is read.
    ///
    /// - Parameter now: time by the database's clock.
    /// - Throws: as ``read(_:)``.
    func admit(_ headers: HTTPFields, now: Timestamp) async throws

    /// Reads a notification after proving that the store sent it.
    ///
    /// - Throws: ``NotificationRefusal``, ``SignalError``, ``Problem``; any other error is a temporary failure.
    func read(_ body: [UInt8], now: Timestamp) async throws -> StoreNotification

    /// Called once a notification is stored, and again on each repeat.
    ///
    /// - Throws: a temporary failure, so that the store repeats it.
    func wasTaken(_ notification: StoreNotification, _ operations: Operations, _ logger: Logger) async throws

    /// Warning for operators about an accepted notification; nil if there is none.
    func warning(about notification: StoreNotification) -> Logger.Message?

    /// The answer to an accepted or repeated notification.
    func answer(to notification: StoreNotification) -> Response
}

extension NotificationSource {
    public func admit(_ headers: HTTPFields, now: Timestamp) async throws {}
    public func wasTaken(_ notification: StoreNotification, _ operations: Operations, _ logger: Logger) async throws {}
    public func warning(about notification: StoreNotification) -> Logger.Message? { nil }
    public func answer(to notification: StoreNotification) -> Response { .taken }
}

extension StorePlatform {
    /// Path of the route that receives the store's notifications, such as `/apple/notifications`.
    var notificationPath: String { "/\(rawValue)/notifications" }
}

/// A notification that its store did not sign, or that is not for this relay.
struct NotificationRefusal: Error {
    /// One of a fixed set.
    let code: String
    /// A sentence written by the relay.
    let detail: String

    /// - Throws: the refusal unless the condition holds.
    static func unless(_ holds: Bool, _ code: String, _ detail: String) throws {
        guard holds else { throw NotificationRefusal(code: code, detail: detail) }
    }
}
