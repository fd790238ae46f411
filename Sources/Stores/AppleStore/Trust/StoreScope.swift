public import RelayCore

/// The apps and environments whose genuine purchases are accepted.
public struct StoreScope: Sendable, Hashable {
    /// Empty: all apps.
    public var bundleIds: Set<BundleID>
    /// The App Store's number of the app; checked if a production document names one. Nil: any.
    public var appId: Int64?
    public var environments: Set<AppleEnvironment.Kind>
    /// Bundle id of the API key that posted the purchase; nil: any of ``bundleIds``.
    public var onlyBundleId: BundleID?

    public init(bundleIds: Set<BundleID>, appId: Int64?, environments: Set<AppleEnvironment.Kind>) {
        self.bundleIds = bundleIds
        self.appId = appId
        self.environments = environments
    }

    /// The same scope, restricted to the app of an API key.
    ///
    /// - Parameter app: the key's bundle id; empty if it names none.
    public func narrowed(to app: BundleID) -> StoreScope {
        var scope = self
        scope.onlyBundleId = app.isEmpty ? nil : app
        return scope
    }

    /// - Parameters:
    ///   - genuine: result of verifying the signature.
    ///   - appId: as the document names it; the sandbox writes nil or 0.
    /// - Throws: ``NotGenuine``: bundle, appId, environment.
    public func check(
        _ genuine: Genuine, environment: AppleEnvironment, bundleId: BundleID?, appId: Int64?
    ) throws(NotGenuine) {
        guard environments.contains(environment.kind) else {
            throw NotGenuine(.environment, "its environment is not one that this relay takes")
        }
        guard !genuine.isLocal || [.xcode, .localTesting].contains(environment.kind) else {
            throw NotGenuine(.environment, "signed by a developer's key, it claims to come from the App Store")
        }
        guard bundleIds.isEmpty || bundleId.map(bundleIds.contains) == true else {
            throw NotGenuine(.bundle, "it is another app's")
        }
        if let onlyBundleId, bundleId != onlyBundleId {
            throw NotGenuine(.bundle, "it is not of the app that the key was made for")
        }
        guard environment.kind != .production || self.appId == nil || appId == nil || appId == 0 || appId == self.appId
        else { throw NotGenuine(.appId, "its app has another number") }
    }
}
