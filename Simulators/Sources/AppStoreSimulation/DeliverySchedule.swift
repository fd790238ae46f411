/// When the App Store tries again to deliver a notification. Source: Apple, "Responding to App Store Server Notifications".
public struct DeliverySchedule: Sendable, Hashable {
    /// Version of notifications.
    public enum Version: Sendable {
        case one, two
    }

    /// Waits between attempts; after the last wait comes the last attempt.
    public var waits: [Duration]

    public init(waits: [Duration]) { self.waits = waits }

    /// As Apple does it: of what is not production there is one attempt only.
    ///
    /// - Parameter speed: how many times faster than in truth.
    public init(_ version: Version = .two, environment: String, speed: Double = 1) {
        let hours: [Double] =
            switch version {
            case .one: [6, 24, 48]
            case .two: [1, 12, 24, 48, 72]
            }
        waits = environment == "Production" ? hours.map { Duration.seconds($0 * 3_600 / speed) } : []
    }

    /// - Returns: nil where it gives up.
    public func wait(afterAttempt number: Int) -> Duration? {
        waits.indices.contains(number - 1) ? waits[number - 1] : nil
    }

    /// Whether an answer says that it was taken; what is in it does not matter.
    public static func isSuccess(_ status: Int) -> Bool { (200...206).contains(status) }
}
