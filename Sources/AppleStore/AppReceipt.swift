public import RelayCore

/// What an app receipt (StoreKit 1) says; "attribute n" names the type number of each field.
///
/// Source of names and encodings: Apple, Receipt Validation Programming Guide, "Receipt Fields", and for the numbers
/// missing there, what receipts were seen to hold. An attribute that is missing, empty or unreadable is nil; of an
/// attribute that comes twice the first readable one counts; unknown ones are passed over, as Apple asks.
public struct AppReceipt: Sendable, Hashable {
    /// Attribute 0, observed, not documented: `Production`, `ProductionSandbox`, `Xcode`.
    public var environment = AppleEnvironment.unnamed
    /// Attribute 1, observed: the App Store's number of the app; 0 in the sandbox.
    public var appId: Int64?
    /// Attribute 2.
    public var bundleId: BundleID?
    /// Attribute 2 as encoded, which is what the device's hash (attribute 5) covers.
    public var bundleIdOctets: ArraySlice<UInt8>?
    /// Attribute 3: `CFBundleVersion` on iOS, `CFBundleShortVersionString` on macOS.
    public var applicationVersion: String?
    /// Attribute 4: part of the device's hash.
    public var opaqueValue: ArraySlice<UInt8>?
    /// Attribute 5: SHA-1 of device identifier, opaque value and bundle id; only the device can check it.
    public var deviceHash: ArraySlice<UInt8>?
    /// Attribute 10, observed: `4+`.
    public var ageRating: String?
    /// Attribute 12: when the receipt was made, which is the time that its certificates are judged at.
    public var creationDate: AppleTimestamp?
    /// Attribute 15, observed.
    public var downloadId: Int64?
    /// Attribute 16, observed: `version_external_identifier` of verifyReceipt.
    public var versionExternalIdentifier: Int64?
    /// Attribute 17, one for each purchase, in no meaningful order.
    public var inAppPurchases: [InAppPurchase] = []
    /// Attribute 18, observed: when the app itself was first bought.
    public var originalPurchaseDate: AppleTimestamp?
    /// Attribute 19: the version first bought; `1.0` in the sandbox.
    public var originalApplicationVersion: String?
    /// Attribute 21: the end of a volume purchase; Xcode writes the year 4001.
    public var expirationDate: AppleTimestamp?
}
