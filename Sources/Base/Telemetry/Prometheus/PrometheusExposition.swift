/// The text of one scrape, built family by family.
struct PrometheusExposition {
    private struct Section {
        var kind: MetricKind
        var help: String
        var samples: [PrometheusLabels: String] = [:]
    }

    private let limit: Int
    private var sections: [String: Section] = [:]
    private var owners: [String: String]
    private(set) var leftOut = 0

    init(limit: Int, owners: [String: String]) {
        self.limit = limit
        self.owners = owners
    }

    mutating func add(_ family: PrometheusFamily, help: String) {
        var section = Section(kind: family.kind, help: help)
        for (labels, metric) in family.snapshot() {
            var text = ""
            metric.append(to: &text, name: family.name, labels: labels)
            section.samples[labels] = text
        }
        if !section.samples.isEmpty { sections[family.name] = section }
    }

    mutating func add(_ sample: MetricSample) {
        let base = PrometheusName.metric(sample.name)
        let name = sample.kind == .counter ? PrometheusName.withSuffix("_total", base) : base
        let kind: MetricKind = sample.kind == .counter ? .counter : .gauge
        var section = sections[name] ?? Section(kind: kind, help: sample.help)
        let labels = PrometheusLabels(sample.labels)
        guard section.kind == kind, owners[name, default: name] == name,
            section.samples[labels] == nil, section.samples.count < limit
        else {
            leftOut += 1
            return
        }
        section.samples[labels] = "\(name)\(labels.braced()) \(PrometheusNumber.text(sample.value))\n"
        owners[name] = name
        sections[name] = section
    }

    func text() -> String {
        var text = ""
        for (name, section) in sections.sorted(by: { $0.key < $1.key }) {
            text += "# HELP \(name) \(Self.escaped(section.help))\n# TYPE \(name) \(section.kind.rawValue)\n"
            for (_, lines) in section.samples.sorted(by: { $0.key < $1.key }) { text += lines }
        }
        return text
    }

    private static func escaped(_ help: String) -> String {
        var escaped = ""
        for scalar in help.unicodeScalars.prefix(1000) {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case _ where scalar.value < 0x20: escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
