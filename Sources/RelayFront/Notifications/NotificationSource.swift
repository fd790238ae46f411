import HTTPTypes
import Hummingbird
import Logging
import RelayCore
import StoreSignals

/// Where one store's notifications come in, and what makes one genuine.
protocol NotificationSource: Sendable {
    var path: String { get }
    var store: StorePlatform { get }

    /// Refuses what its header fields alone give away, before anything of the body is read.
    ///
    /// - Parameter now: by the database's clock.
    /// - Throws: as ``read(_:)``.
    func admit(_ headers: HTTPFields, now: Timestamp) async throws

    /// What a notification says, once it is known that the store says it.
    ///
    /// - Throws: ``NotificationRefusal``, ``Problem``; all else is passing trouble.
    func read(_ body: [UInt8], now: Timestamp) async throws -> StoreNotification

    /// What is to be done once it is stored, and again each time that it is repeated.
    ///
    /// - Throws: passing trouble, so that the store repeats it.
    func wasTaken(_ notification: StoreNotification) async throws

    /// What an operator should know of one that was taken; nil where all is as it should be.
    func warning(about notification: StoreNotification) -> Logger.Message?

    /// What the store reads once it is taken, and each time that it is repeated.
    func answer(to notification: StoreNotification) -> Response
}

extension NotificationSource {
    func admit(_ headers: HTTPFields, now: Timestamp) async throws {}
    func wasTaken(_ notification: StoreNotification) async throws {}
    func warning(about notification: StoreNotification) -> Logger.Message? { nil }
    func answer(to notification: StoreNotification) -> Response { .taken }
}

extension Problem {
    init(_ error: SignalError) {
        self.init(error.kind == .notJSON ? .notJSON : .notANotification, error.detail)
    }
}

/// A notification that its store did not sign, or that is not for here.
struct NotificationRefusal: Error {
    /// One of a few words.
    let code: String
    /// One sentence of our own.
    let detail: String
}
