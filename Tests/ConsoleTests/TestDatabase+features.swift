@testable import Relay

extension TestDatabase {
    /// The features of the stores of these tests.
    static let features: [StoredFeature] = []
}
