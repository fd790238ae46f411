import RelayFront
import RelayStore
import StoreSignals

#if FEATURE_BILLING
    import Billing
#endif

/// The features of this build. The core does not know them.
enum Features {
    static let all: [Feature] = {
        var features = [
            Feature(stored: .cleengEvents), Feature(stored: .rokuNotifications(RokuNotification.message)),
        ]
        #if FEATURE_BILLING
            features.append(.billing)
        #endif
        return features
    }()

    static var stored: [StoredFeature] { all.map(\.stored) }
    static var fronts: [FrontFeature] { all.compactMap(\.front) }
}
