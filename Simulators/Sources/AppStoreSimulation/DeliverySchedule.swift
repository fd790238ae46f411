/// Retry schedule of the App Store's notifications. Source: Apple, "Responding to App Store Server Notifications".
public struct DeliverySchedule: Sendable, Hashable {
    /// Version of notifications.
    public enum Version: Sendable {
        case one, two
    }

    /// Pauses between attempts; the last attempt follows the last pause.
    public var waits: [Duration]

    public init(waits: [Duration]) { self.waits = waits }

    /// Apple's schedule: outside production there is only one attempt.
    ///
    /// - Parameter speed: factor by which pauses are shortened.
    public init(_ version: Version = .two, environment: String, speed: Double = 1) {
        let hours: [Double] =
            switch version {
            case .one: [6, 24, 48]
            case .two: [1, 12, 24, 48, 72]
            }
        waits = environment == "Production" ? hours.map { Duration.seconds($0 * 3_600 / speed) } : []
    }

    /// - Returns: nil after the last attempt.
    public func wait(afterAttempt number: Int) -> Duration? {
        waits.indices.contains(number - 1) ? waits[number - 1] : nil
    }

    /// Whether an answer means success; its body does not matter.
    public static func isSuccess(_ status: Int) -> Bool { (200...206).contains(status) }
}
