import RelayCore

/// A coupon as an app sends it. A wrong one never fails a purchase: it is left out, and the answer says so.
enum CouponCode {
    static let maximumLength = 40

    static func read(_ field: JSONField) -> (code: CouponID?, warnings: [FieldError]) {
        switch field {
        case .absent: return (nil, [])
        case .other(let kind): return ignored("must be a string, not \(kind.article)")
        case .string(let text):
            if text.trimmingSpace().isEmpty { return ignored("is blank") }
            if text.utf8.count > maximumLength * 4 || text.unicodeScalars.count > maximumLength {
                return ignored("has more than \(maximumLength) characters")
            }
            if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                return ignored("holds control characters")
            }
            return (CouponID(text), [])
        }
    }

    private static func ignored(_ why: String) -> (code: CouponID?, warnings: [FieldError]) {
        (nil, [FieldError("couponCode", .ignored, "the coupon \(why); the purchase goes on without it")])
    }
}
