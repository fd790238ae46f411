import RelayFront
import RelayStore
import StoreSignals

/// The features of this build. The core does not know them.
enum Features {
    static let stored: [StoredFeature] = [.cleengEvents, .rokuNotifications(RokuNotification.message), .billing]
    static let fronts: [FrontFeature] = [.billing]
}
