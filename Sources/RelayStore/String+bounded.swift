extension String {
    /// At most so many Unicode scalars. A character may be of any number of them: a letter under a megabyte of accents is one.
    func bounded(_ most: Int) -> String { String(unicodeScalars.prefix(most)) }
}
