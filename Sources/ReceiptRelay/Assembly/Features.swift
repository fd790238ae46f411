import RelayFront
import RelayStore
import StoreSignals

#if FEATURE_BILLING
    import Billing
#endif

/// The features of this build. The core does not know them.
enum Features {
    static var all: [Feature] {
        let common = [
            Feature(stored: .cleengEvents), Feature(stored: .rokuNotifications(RokuNotification.message)),
        ]
        #if FEATURE_BILLING
            return common + [.billing]
        #else
            return common
        #endif
    }

    static var stored: [StoredFeature] { all.map(\.stored) }
    static var fronts: [FrontFeature] { all.compactMap(\.front) }
}
