import Foundation

/// The decoded parts of a path. In paths, unlike queries, a plus sign is a plus sign.
package enum PathSegments {
    package static func decode(_ path: String) -> [String] {
        path.split(separator: "/").prefix(16).map { $0.removingPercentEncoding ?? String($0) }
    }
}
