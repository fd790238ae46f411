/// `active` and `cancelled` (will not renew) entitle, `terminated` does not, whatever the expiry says.
enum EntitlementStatus: String, Codable, Sendable {
    case active
    case cancelled
    case terminated

    var entitles: Bool { self != .terminated }
}
