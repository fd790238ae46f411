import SimulatorKit

/// The form of Roku's pushes.
enum RokuPushForm: String, Sendable, Codable {
    /// A JSON Web Signature, as text.
    case signed
    /// JSON, whose sender cannot be verified.
    case unsigned
}

/// Address and form of notification pushes.
struct RokuPushSettings: Sendable, Encodable {
    let url: String
    let form: RokuPushForm
    /// Whether an answer to the unsigned form needs the header `ApiKey`, as Roku documents it.
    var requiresAPIKey = false

    init(url: String, form: RokuPushForm = .signed) throws(ControlFault) {
        try ControlFault.checkPushURL(url)
        (self.url, self.form) = (url, form)
    }

    /// Body of `PUT /control/push`.
    init(_ call: Call) throws(ControlFault) {
        let input: Input = try call.object(["url", "form", "requiresApiKey"])
        try self.init(url: input.url, form: input.form ?? .signed)
        requiresAPIKey = input.requiresApiKey ?? false
    }

    private enum CodingKeys: String, CodingKey {
        case url, form
        case requiresAPIKey = "requiresApiKey"
    }

    private struct Input: Decodable {
        let url: String
        var form: RokuPushForm?
        var requiresApiKey: Bool?
    }
}
