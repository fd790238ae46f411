import AppStoreSimulation
import Foundation

/// An HTTP answer, ready to be written.
struct Reply: Sendable, Equatable {
    var status: Int
    /// nil for none.
    var body: Data?
    var retryAfter: String?
    var allow: String?

    init(status: Int) { self.status = status }

    init(status: Int = 200, json: some Encodable) {
        self.status = status
        // Encoding fails only for numbers that are not finite, which nothing here holds.
        body = (try? SimulatedJSON.encode(json)) ?? Data("null".utf8)
    }
}
