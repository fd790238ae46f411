import Formats
import HTTPServer
import Relay
import RelayCore

/// The rest of a path after `/v2/customers`. A customer's name may contain any characters, and Fovea's own client does
/// not encode it. So everything up to the last `/purchases` or `/consumption` is the name.
enum CustomerPath: Equatable {
    case all
    case purchases(of: String)
    /// The publisher's facts about a customer, for Apple.
    case consumption(of: String)

    private static let prefix = "/v2/customers"
    private static let suffix = "/purchases"
    private static let consumption = "/consumption"

    /// Nil for any other path.
    init?(_ path: String) {
        guard path.hasBytes(first: Self.prefix) else { return nil }
        var rest = path.droppingBytes(first: Self.prefix.utf8.count)
        if rest.isEmpty || rest == "/" {
            self = .all
            return
        }
        if rest.hasBytes(last: "/") { rest = rest.droppingBytes(last: 1) }
        let suffix = rest.hasBytes(last: Self.consumption) ? Self.consumption : Self.suffix
        guard rest.hasBytes(first: "/"), rest.hasBytes(last: suffix), rest.utf8.count > suffix.utf8.count + 1
        else { return nil }
        let name = rest.droppingBytes(first: 1, last: suffix.utf8.count).percentDecoded
        self = suffix == Self.consumption ? .consumption(of: name) : .purchases(of: name)
    }

    /// The customer in the path of a request for purchases. Nil also if the path has a query, or the name would be
    /// refused.
    static func plainName(_ path: String) -> Username? {
        guard !path.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }),
            case .purchases(let text)? = CustomerPath(path)
        else { return nil }
        return ApplicationUsername.checked(text)
    }
}
