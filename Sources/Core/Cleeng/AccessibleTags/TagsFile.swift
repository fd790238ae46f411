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
    /// - Throws: ``TagsFileError`` if the text is not such an object; it names a faulty offer.
    public static func parse(_ text: String) throws(TagsFileError) -> [OfferID: [TagID]] {
        guard text.utf8.count <= maximumBytes else { throw .tooLarge }
        let file: [OfferID: [TagID]]
        do {
            file = try JSONDecoder().decode([OfferID: [TagID]].self, from: Data(text.utf8))
        } catch {
            throw .notAnObject
        }
        guard file.count <= maximumOffers else { throw .tooLarge }
        for (offer, tags) in file {
            // An offer without tags would be open to every customer: "all tags are accessible" would hold.
            guard (1...maximumName).contains(offer.utf8.count), (1...maximumTags).contains(tags.count),
                tags.allSatisfy({ (1...maximumName).contains($0.utf8.count) })
            else { throw .offer(offer) }
        }
        return file
    }
}

/// Why a tags file cannot be used.
public enum TagsFileError: Error, Equatable, CustomStringConvertible {
    /// More than 4 MiB or 10,000 offers.
    case tooLarge
    /// Not JSON, or not an object whose values are lists of strings.
    case notAnObject
    /// No tags, an empty tag, too many of them, or too long a name.
    case offer(OfferID)

    /// Suitable for one line on standard error.
    public var description: String {
        switch self {
        case .tooLarge: return "the tags file is too large"
        case .notAnObject: return "the tags file must be an object of offers with lists of tags"
        case .offer(let offer):
            let name = MessageScrubber(hiding: []).clean(String(offer.text.prefix(64))) ?? "(blank)"
            return "the tags file gives offer \(name) no usable tags"
        }
    }
}
