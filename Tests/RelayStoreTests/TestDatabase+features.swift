@testable import Relay

extension TestDatabase {
    /// The features of the stores of these tests, and the sealed table of another target's feature. A notification of
    /// Roku's names a customer backwards, as it does in an encoding of its own.
    static let features: [StoredFeature] = [
        .cleengEvents, .rokuNotifications { #"{"email":""#.utf8 + $0.reversed() + #""}"#.utf8 },
        StoredFeature(
            tables: TablePolicy(sealed: [
                PrivateColumns("billing_customers", key: [("id", "text")], texts: ["details"])
            ])),
    ]
}
