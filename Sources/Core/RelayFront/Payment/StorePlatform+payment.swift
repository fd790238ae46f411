import RelayCore

extension StorePlatform {
    /// The fields of a purchase's body.
    var paymentFields: FieldNames { Self.fieldNames[self] ?? FieldNames(PurchaseRequest.names) }

    private static let fieldNames = Dictionary(
        uniqueKeysWithValues: allCases.map { platform in
            let members = platform.receipt?.fields.map(\.name) ?? PurchaseProof.Apple.names
            return (platform, FieldNames(PurchaseRequest.names, within: [platform.receiptField: members]))
        })
}
