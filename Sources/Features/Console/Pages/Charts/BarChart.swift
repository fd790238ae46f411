/// Counts over time, drawn as bars.
struct BarChart: Sendable {
    struct Bar: Sendable {
        var x: Int
        var y: String
        var width: Int
        var height: String
        var label: String
    }

    private static let height = 60.0
    private static let pitch = 10

    var title: String
    var total: Int
    var tone: String
    /// Description for screen readers.
    var summary: String
    var width: Int
    var bars: [Bar]

    /// - Parameters:
    ///   - counts: one for each step.
    ///   - label: text for the step with this index.
    init(_ title: String, _ counts: [Int], tone: Tone, label: (Int) -> String) {
        self.title = title
        self.tone = tone.rawValue
        total = counts.reduce(0, +)
        width = max(counts.count, 1) * Self.pitch
        let most = counts.max() ?? 0
        let peak = counts.firstIndex(of: most).map(label) ?? ""
        summary = most == 0 ? "\(title): none" : "\(title): \(total), at most \(most) at \(peak)"
        bars = counts.enumerated().compactMap { place, count in
            guard count > 0 else { return nil }
            // A count of one must be visible beside a thousand.
            let height = max(2, Self.height * Double(count) / Double(most))
            return Bar(
                x: place * Self.pitch, y: Self.text(Self.height - height), width: Self.pitch - 2,
                height: Self.text(height), label: "\(label(place)): \(count)")
        }
    }

    /// A number with one decimal, independent of the locale.
    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
