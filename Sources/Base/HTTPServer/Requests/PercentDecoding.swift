import Foundation

extension StringProtocol {
    /// The text without percent-encoding. Invalid encoding means that the text was not encoded at all.
    package var percentDecoded: String { removingPercentEncoding ?? String(self) }
}
