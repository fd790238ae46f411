package import Relay

extension Feature {
    /// Checks, orders and contracts, for publishers' billing systems.
    package static let billing = Feature(stored: .billing, front: .billing)
}
