/// The addresses of the control API.
enum ControlRoute: Equatable {
    case subscription(String)
    case notifications
    case trouble
    case requests

    /// - Returns: nil where nothing has this address.
    init?(_ segments: [String]) {
        guard segments.first == "_simulator", segments.count > 1 else { return nil }
        switch (segments[1], segments.count) {
        case ("subscriptions", 3): self = .subscription(segments[2])
        case ("notifications", 2): self = .notifications
        case ("trouble", 2): self = .trouble
        case ("requests", 2): self = .requests
        default: return nil
        }
    }
}
