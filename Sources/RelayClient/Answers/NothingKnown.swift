/// What the relay says of a customer who never bought an offer.
struct NothingKnown: Decodable {
    private var status: String
    private var validationId: String?

    var isSo: Bool { status == "unknown" && validationId == nil }
}
