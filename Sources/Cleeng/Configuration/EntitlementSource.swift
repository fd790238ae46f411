/// Which of Cleeng's reads says whether a customer has access.
public enum EntitlementSource: String, Sendable, Hashable, Codable, CaseIterable {
    /// `GET /3.1/entitlements` by the customer's email.
    case entitlements
    /// JSON-RPC `getAccessibleTags`, for publishers that sell by tag.
    case accessibleTags = "accessible-tags"
}
