/// The sign-in form.
public struct SignInPage: ConsolePage {
    public static let template = "sign_in"

    public var frame: Frame
    /// Page to open after sign-in.
    var next: String?
    var error: String?

    public init(_ frame: Frame, next: String?, error: String? = nil) {
        self.frame = frame
        self.next = next
        self.error = error
    }
}

/// Confirmation of an action before it is performed.
public struct ConfirmPage: ConsolePage {
    public static let template = "confirm"

    public var frame: Frame
    /// Effect of the action.
    var consequence: String
    /// Item that the action changes.
    var target: String
    var button: String
    var isGrave: Bool
    /// URL that the form posts to.
    var action: String
    var back: String
    var formToken: String
    var reason: String
    var error: String?
    /// Hidden fields of the form.
    var hidden: [Hidden]

    struct Hidden: Sendable {
        var name: String
        var value: String
    }

    public init(
        _ frame: Frame, consequence: String, target: String, button: String, isGrave: Bool, action: String,
        back: String, reason: String = "", error: String? = nil, hidden: [(name: String, value: String)] = []
    ) {
        self.frame = frame
        self.consequence = consequence
        self.target = target
        self.button = button
        self.isGrave = isGrave
        self.action = action
        self.back = back
        formToken = frame.viewer?.formToken ?? ""
        self.reason = reason
        self.error = error
        self.hidden = hidden.map { Hidden(name: $0.name, value: $0.value) }
    }
}

/// Page for a request that failed.
public struct ProblemPage: ConsolePage {
    public static let template = "problem"

    public var frame: Frame
    var detail: String

    public init(_ frame: Frame, detail: String) {
        self.frame = frame
        self.detail = detail
    }
}
