/// One purchase, as the relay takes it.
public struct Purchase: Sendable, Hashable {
    /// What the app runs on, where it bought in the App Store.
    public enum AppType: String, Sendable, Hashable {
        case ios
        case tvos

        /// That of the device on which this code runs.
        public static var current: AppType {
            #if os(tvOS)
                .tvos
            #else
                .ios
            #endif
        }
    }

    /// The customer's address; case and surrounding space do not matter. At most 254 bytes.
    public var email: String
    /// The offer's id at Cleeng, such as `S123456789_US`. At most 100 letters, digits, `_`, `-` and `.`.
    public var offer: String
    public var proof: Proof
    public var appType: AppType
    /// 1 to 40 characters; any other, or a wrong one, is left out and told in ``Validation/warnings``.
    public var coupon: String?
    /// The publisher's own id of the user, 1 to 512 characters. By default the relay takes the email.
    public var applicationUsername: String?
    /// The customer's number at Cleeng. With it a signed transaction may take Cleeng's StoreKit 2 road.
    public var cleengCustomerID: Int?

    public init(
        email: String, offer: String, proof: Proof, appType: AppType = .current, coupon: String? = nil,
        applicationUsername: String? = nil, cleengCustomerID: Int? = nil
    ) {
        self.email = email
        self.offer = offer
        self.proof = proof
        self.appType = appType
        self.coupon = coupon
        self.applicationUsername = applicationUsername
        self.cleengCustomerID = cleengCustomerID
    }
}
