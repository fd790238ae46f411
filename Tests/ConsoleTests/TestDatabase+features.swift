@testable import RelayStore

extension TestDatabase {
    /// The features of the stores of these tests.
    static let features: [StoredFeature] = []
}
