import Foundation

/// A store without HTTP and without a clock: what it knows, and what it answers.
protocol SimulatedStore: Sendable {
    /// Which routes trouble can be made for.
    static var routes: [String] { get }

    /// Which of them a call goes to; nil for an address that is none.
    func route(_ call: StoreCall) -> String?

    mutating func answer(_ call: StoreCall, at now: Date) -> StoreOutcome

    /// Does to a purchase what it is told, under `/control/`.
    ///
    /// - Parameter segments: what follows `control` in the path.
    mutating func control(_ segments: [String], _ call: StoreCall, at now: Date) throws(ControlFault) -> Reply
}

/// An answer, and what is kept of the call.
struct StoreOutcome: Sendable {
    var reply: Reply
    /// `good`, `bad`, or `absent`.
    var credentials: String
    /// Without what nobody may read.
    var shownPath: String
}
