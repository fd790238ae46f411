public import RelayCore

extension ConsumptionFacts: Viewed {
    public static let fields: [Field<ConsumptionFacts>] = [
        Field("customerConsented", "Consent") { $0.customerConsented },
        Field("sampleContentProvided", "Sample") { $0.sampleContentProvided },
        Field("consumptionPercentage", "Used") { $0.consumptionPercentage },
        Field("refundPreference", "Preference") { $0.refundPreference?.rawValue },
        Field("userStatus", "Status") { $0.userStatus?.rawValue },
    ]
}
