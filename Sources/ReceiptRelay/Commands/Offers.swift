import ArgumentParser
import Formats
import Foundation
import Relay
import RelayCore

struct Offers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says which products are sold as which offers, and which coupons an offer has.",
        discussion: """
            A purchase of a product that is not its offer's is reported, never refused. `POST /v1/validate` finds the offer of a \
            product here. Running copies notice a change within five seconds.
            """,
        subcommands: [Add.self, Import.self, List.self, Remove.self], defaultSubcommand: List.self)

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Adds a product to an offer.")

        @Option(help: "The offer's id at Cleeng, such as S598742062_US.")
        var offer: OfferID

        @Option(help: "The product's id, with \(OfferFile.prefixes) before it where it is not Apple's.")
        var product: String

        @Option(help: "What to call the offer in lists.")
        var name = ""

        @Option(help: "Whose offer it is.")
        var publisher = "main"

        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            try Publishers.check(publisher)
            guard OfferFile.isID(offer.text) else { throw ValidationError("--offer is of letters, digits, _, - and .") }
            guard OfferFile.product(product) != nil else {
                throw ValidationError("--product is an id of at most 255 characters")
            }
        }

        func run() async throws {
            guard let product = OfferFile.product(product) else { return }
            let offers = [Offer(id: offer, name: name, products: [ProductID(product)])]
            try await DatabaseSession.perform(
                .importOffers(offers, of: PublisherID(publisher)), option)
            print("\(product) is sold as \(offer)")
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Takes offers from a file, YAML or JSON.",
            discussion: """
                offers:
                  - offerId: S598742062_US
                    name: Monthly
                    products: [com.example.month, "google:month"]
                    coupons: [{code: SUMMER, campaign: Summer 2026}, WINTER]
                """)

        @Argument(help: "The file; - for standard input.")
        var file: String

        @Flag(help: "Forgets every offer of the publisher that is not in the file.")
        var replace = false

        @Option(help: "Whose offers they are.")
        var publisher = "main"

        @OptionGroup var option: ConfigurationOption

        func validate() throws { try Publishers.check(publisher) }

        func run() async throws {
            let data =
                file == "-"
                ? FileHandle.standardInput.readDataToEndOfFile() : FileManager.default.contents(atPath: file)
            guard let data else {
                throw Failure("\(file) cannot be read", 66)
            }
            let offers: [Offer]
            do {
                offers = try OfferFile(String(decoding: data, as: UTF8.self)).offers
            } catch let error as OfferFile.Malformed {
                throw Failure("\(file): \(error)", 65)
            }
            try await DatabaseSession.perform(
                .importOffers(offers, of: PublisherID(publisher), replacesAll: replace), option)
            let products = offers.reduce(0) { $0 + $1.products.count }
            print("\(offers.count) offers with \(products) products")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the offers, and what the newest purchases name that no offer has.")

        @Option(help: "Only this publisher's.")
        var publisher: PublisherID?

        @Flag(help: "As JSON.")
        var json = false

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let (offers, unmapped) = try await DatabaseSession.run(option) { store in
                let scope = publisher.map(OpsScope.publisher) ?? .all
                return (try await store.offers.list(in: scope), try await store.offers.unmapped(in: scope))
            }
            guard !json else { return try JSONOutput.write { Self.write(offers, unmapped, &$0) } }
            let columns = PublishersOffer.columns("publisher", "offerId", "products", "coupons", "name")
            TextTable.write(offers.map { PublishersOffer($0) }, columns)
            for one in unmapped {
                let what = one.product.map { "\($0) was bought as \(one.offerID)" } ?? "\(one.offerID) was bought"
                print(
                    "! \(one.publisher): \(what) \(one.purchases) times, which \(one.isMapped ? "is not its product" : "has no products")"
                )
            }
        }

        /// Writes one line for each product.
        private static func write(
            _ offers: [(publisher: PublisherID, offer: Offer)], _ unmapped: [UnmappedOffer],
            _ writer: inout JSONWriter
        ) {
            writer.beginArray()
            for (publisher, offer) in offers {
                for product in offer.products {
                    writer.beginObject()
                    writer.field("publisher", publisher.text)
                    writer.field("offerId", offer.id.text)
                    writer.field("name", offer.name)
                    writer.field("product", product.text)
                    writer.endObject()
                }
            }
            for one in unmapped { writer.value(one) }
            writer.endArray()
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Forgets an offer, or one of its products.")

        @Option(help: "The offer's id.")
        var offer: OfferID

        @Option(help: "Only this product of it.")
        var product: String?

        @Option(help: "Whose offer it is.")
        var publisher = "main"

        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            try Publishers.check(publisher)
            guard product.map({ OfferFile.product($0) != nil }) ?? true else {
                throw ValidationError(
                    "--product is a product's id of at most 255 characters; without it, the whole offer goes")
            }
        }

        func run() async throws {
            let product = product.flatMap(OfferFile.product)
            try await DatabaseSession.perform(
                .remove(offer: offer, product: ProductID(product), of: PublisherID(publisher)), option)
            print("removed")
        }
    }
}
