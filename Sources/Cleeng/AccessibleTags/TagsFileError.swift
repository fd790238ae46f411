public import RelayCore

/// Why a tags file cannot be used. Equal by kind, whichever offer it names.
public struct TagsFileError: Error, Equatable, CustomStringConvertible {
    private enum Code {
        case tooLarge, notAnObject, offer
    }

    private let code: Code
    /// Fit for one line on standard error.
    public let shortDescription: String

    public var description: String { shortDescription }

    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// More than 4 MiB or 10,000 offers.
    public static let tooLarge = Self(code: .tooLarge, shortDescription: "the tags file is too large")
    /// Not JSON, or not an object whose values are lists of strings.
    public static let notAnObject = Self(
        code: .notAnObject, shortDescription: "the tags file must be an object of offers with lists of tags")
    /// No tags, an empty tag, too many of them, or too long a name.
    public static func offer(_ offer: OfferID) -> Self {
        let name = MessageScrubber(hiding: []).clean(String(offer.text.prefix(64))) ?? "(blank)"
        return Self(code: .offer, shortDescription: "the tags file gives offer \(name) no usable tags")
    }
}
