import Foundation
import SimulatorKit

/// Address and identity of notification pushes: a push subscription of Pub/Sub.
struct PushSettings: Sendable, Encodable {
    let url: String
    /// The token's `aud`.
    let audience: String
    /// The service account of the token.
    let email: String
    let subscription: String

    init(
        url: String, audience: String? = nil, email: String? = nil, subscription: String? = nil
    ) throws(ControlFault) {
        try ControlFault.checkPushURL(url)
        self.url = url
        self.audience = audience ?? url
        self.email = email ?? "push@example.iam.gserviceaccount.com"
        self.subscription = subscription ?? "projects/example/subscriptions/relay"
    }

    /// Body of `PUT /control/push`.
    init(_ call: Call) throws(ControlFault) {
        let input: Input = try call.object(["url", "audience", "email", "subscription"])
        try self.init(url: input.url, audience: input.audience, email: input.email, subscription: input.subscription)
    }

    private struct Input: Decodable {
        let url: String
        var audience: String?
        var email: String?
        var subscription: String?
    }
}
