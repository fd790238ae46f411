/// State of the relay: problems first, then the longest-waiting work.
struct OverviewPage: ConsolePage {
    static let template = "overview"

    struct Finding: Sendable {
        var severity: String
        var what: String
        var advice: String
        var href: String?
    }

    struct Tile: Sendable {
        var label: String
        var value: String
        var note: String?
        var tone: String
        var href: String?

        init(_ label: String, _ value: String, note: String? = nil, tone: Tone = .quiet, href: String? = nil) {
            self.label = label
            self.value = value
            self.note = note
            self.tone = tone.rawValue
            self.href = href
        }
    }

    var frame: Frame
    var severity: String
    var headline: String
    var findings: [Finding]
    var oldest: Table
    var tiles: [Tile]
    var hours: Int
    var charts: [BarChart]
    var stores: Table
    var copies: Table

    init(
        _ frame: Frame, severity: String, headline: String, findings: [Finding], oldest: Table, tiles: [Tile],
        hours: Int, charts: [BarChart], stores: Table, copies: Table
    ) {
        self.frame = frame
        self.severity = severity
        self.headline = headline
        self.findings = findings
        self.oldest = oldest
        self.tiles = tiles
        self.hours = hours
        self.charts = charts
        self.stores = stores
        self.copies = copies
    }
}
