/// The page of one item with its details.
struct DetailPage: ConsolePage {
    static let template = "detail"

    struct Fact: Sendable {
        var label: String
        var value: String
        var href: String?

        init(_ label: String, _ value: String?, href: String? = nil) {
            self.label = label
            self.value = value.flatMap { $0.isEmpty ? nil : $0 } ?? "–"
            self.href = href
        }
    }

    struct Action: Sendable {
        var title: String
        var href: String
        var isGrave: Bool

        /// - Parameter isGrave: whether the action cannot be undone.
        init(_ title: String, href: String, isGrave: Bool = false) {
            self.title = title
            self.href = href
            self.isGrave = isGrave
        }
    }

    struct Part: Sendable {
        var title: String
        var table: Table?
        var text: String?

        init(_ title: String, table: Table? = nil, text: String? = nil) {
            self.title = title
            self.table = table
            self.text = text
        }
    }

    var frame: Frame
    var lead: String
    var state: String
    var tone: String?
    var hasActions: Bool
    var actions: [Action]
    var axis: TimeAxis?
    var facts: [Fact]
    var sections: [Part]

    /// - Parameters:
    ///   - state: short text, shown in `tone`.
    ///   - lead: explanation of the state.
    init(
        _ frame: Frame, state: String, tone: Tone?, lead: String, actions: [Action] = [], axis: TimeAxis? = nil,
        facts: [Fact], sections: [Part]
    ) {
        self.frame = frame
        self.lead = lead
        self.state = state
        self.tone = tone?.rawValue
        self.actions = actions
        hasActions = !actions.isEmpty
        self.axis = axis
        self.facts = facts
        self.sections = sections
    }
}
