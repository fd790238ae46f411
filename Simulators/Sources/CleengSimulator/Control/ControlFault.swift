/// A request to the control API that cannot be carried out. Carries a text for the person who sent it.
struct ControlFault: Error, Equatable, CustomStringConvertible {
    private enum Code { case invalid, notFound, tooLarge }

    private let code: Code
    let detail: String

    static func invalid(_ detail: String) -> ControlFault { ControlFault(code: .invalid, detail: detail) }
    static func notFound(_ detail: String) -> ControlFault { ControlFault(code: .notFound, detail: detail) }
    static let tooLarge = ControlFault(code: .tooLarge, detail: "the body is larger than 8 MB")

    /// HTTP status.
    var status: Int {
        switch code {
        case .invalid: 400
        case .notFound: 404
        case .tooLarge: 413
        }
    }

    /// Bounded, fit for a label.
    var shortDescription: String { "\(code)" }
    var description: String { detail }

    static func == (left: ControlFault, right: ControlFault) -> Bool { left.code == right.code }
}
