/// The sign-in form.
struct SignInPage: ConsolePage {
    static let template = "sign_in"

    var frame: Frame
    /// Page to open after sign-in.
    var next: String?
    var error: String?

    init(_ frame: Frame, next: String?, error: String? = nil) {
        self.frame = frame
        self.next = next
        self.error = error
    }
}

/// Confirmation of an action before it is performed.
struct ConfirmPage: ConsolePage {
    static let template = "confirm"

    var frame: Frame
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

    init(
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
struct ProblemPage: ConsolePage {
    static let template = "problem"

    var frame: Frame
    var detail: String

    init(_ frame: Frame, detail: String) {
        self.frame = frame
        self.detail = detail
    }
}
