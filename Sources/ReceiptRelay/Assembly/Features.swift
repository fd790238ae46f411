import Relay
import StoreSignals

#if FEATURE_BILLING
    import Billing
#endif
#if FEATURE_CONSOLE
    import Console
#endif
#if FEATURE_PURCHASESAPI
    import PurchasesAPI
#endif

/// The features of this build. The core does not know them.
enum Features {
    static var all: [Feature] {
        var all = [
            Feature(stored: .cleengEvents), Feature(stored: .rokuNotifications(RokuNotification.message)),
        ]
        #if FEATURE_BILLING
            all.append(.billing)
        #endif
        #if FEATURE_CONSOLE
            all.append(.console)
        #endif
        #if FEATURE_PURCHASESAPI
            all.append(.purchasesAPI)
        #endif
        return all
    }

    static var stored: [StoredFeature] { all.map(\.stored) }
    static var fronts: [FrontFeature] { all.compactMap(\.front) }
}
