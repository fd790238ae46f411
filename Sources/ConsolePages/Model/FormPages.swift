/// Where somebody signs in.
public struct SignInPage: ConsolePage {
    public static let template = "sign_in"

    public var frame: Frame
    /// Where they wanted to go.
    var next: String?
    var error: String?

    public init(_ frame: Frame, next: String?, error: String? = nil) {
        self.frame = frame
        self.next = next
        self.error = error
    }
}

/// Where an action is confirmed before it is done.
public struct ConfirmPage: ConsolePage {
    public static let template = "confirm"

    public var frame: Frame
    /// What will happen.
    var consequence: String
    /// To what.
    var target: String
    var button: String
    var isGrave: Bool
    /// Where the form goes.
    var action: String
    var back: String
    var formToken: String
    var reason: String
    var error: String?
    /// What comes back with the form besides.
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

/// What could not be shown or done.
public struct ProblemPage: ConsolePage {
    public static let template = "problem"

    public var frame: Frame
    var detail: String

    public init(_ frame: Frame, detail: String) {
        self.frame = frame
        self.detail = detail
    }
}
