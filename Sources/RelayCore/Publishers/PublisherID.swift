/// What a publisher may be called.
extension PublisherID {
    /// Whose everything is where nobody was named.
    public static let first: Self = "main"
    public static let rule = "up to 63 of a-z, 0-9, _ and -, the first a letter or digit"

    public static func isValid(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-z0-9][a-z0-9_-]{0,62}/) != nil
    }
}
