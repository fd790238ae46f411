/// Measurements of a run in its output.
enum Measured {
    static func note(_ what: String, _ value: Duration) {
        note(what, "\((value / .milliseconds(1)).rounded() / 1_000) s")
    }

    static func note(_ what: String, _ value: String) { print("measured: \(what): \(value)") }
}
