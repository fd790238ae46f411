public import RelayCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The file that maps offers to tags: a JSON object such as `{"S123456789_US": ["sport", "news"]}`.
public enum TagsFile {
    private static let maximumBytes = 4 << 20
    private static let maximumOffers = 10_000
    private static let maximumTags = 100
    private static let maximumName = 200

    /// - Returns: each offer's tags, at least one.
    /// - Throws: ``TagsFileError`` for what is no such object, naming the offer where one is at fault.
    public static func parse(_ text: String) throws(TagsFileError) -> [OfferID: [TagID]] {
        guard text.utf8.count <= maximumBytes else { throw .tooLarge }
        let file: [OfferID: [TagID]]
        do {
            file = try JSONDecoder().decode([OfferID: [TagID]].self, from: Data(text.utf8))
        } catch {
            throw .notAnObject
        }
        try check(file)
        return file
    }

    /// Holds a map that was read in another way to the same bounds.
    public static func check(_ tagsByOffer: [OfferID: [TagID]]) throws(TagsFileError) {
        guard tagsByOffer.count <= maximumOffers else { throw .tooLarge }
        for (offer, tags) in tagsByOffer {
            // An offer without tags would be open to everybody if "all of its tags" were taken at its word.
            guard (1...maximumName).contains(offer.utf8.count), (1...maximumTags).contains(tags.count),
                tags.allSatisfy({ (1...maximumName).contains($0.utf8.count) })
            else { throw .offer(offer) }
        }
    }
}

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
