import Foundation
import SimulatorKit

/// A refunded or charged-back purchase.
struct VoidedPurchase: Sendable {
    let packageName: String
    let type: GoogleAddress.PurchaseType
    let purchaseToken: String
    let orderId: String
    let purchasedAt: Date
    let voidedAt: Date
    /// 0 user, 1 developer, 2 Google.
    let source: Int
    /// 0 other, 1 remorse, 2 not received, 3 defective, 4 accidental, 5 fraud, 6 friendly fraud, 7 chargeback.
    let reason: Int

    fileprivate var item: Item {
        Item(
            purchaseToken: purchaseToken, purchaseTimeMillis: String(purchasedAt.wholeMilliseconds),
            voidedTimeMillis: String(voidedAt.wholeMilliseconds), orderId: orderId, voidedSource: source,
            voidedReason: reason)
    }

    fileprivate struct Item: Encodable {
        var kind = "androidpublisher#voidedPurchase"
        let purchaseToken: String
        let purchaseTimeMillis: String
        let voidedTimeMillis: String
        let orderId: String
        let voidedSource: Int
        let voidedReason: Int
    }
}

/// The voided purchases of all apps, by time.
struct VoidedPurchases: Sendable {
    static let mostResults = 1_000
    /// Age up to which they are listed, in milliseconds.
    static let window: Int64 = 30 * 86_400_000

    private var entries: [(number: Int, purchase: VoidedPurchase)] = []
    private var lastNumber = 0

    /// Adds a purchase, unless its order is already listed.
    /// - Returns: whether it was added.
    mutating func add(_ purchase: VoidedPurchase) -> Bool {
        guard
            !entries.contains(where: {
                ($0.purchase.purchaseToken, $0.purchase.orderId) == (purchase.purchaseToken, purchase.orderId)
            })
        else { return false }
        if entries.count == SimulatedGoogle.capacity { entries.removeFirst() }
        lastNumber += 1
        entries.append((lastNumber, purchase))
        return true
    }

    /// `GET …/purchases/voidedpurchases`.
    func page(of package: String, _ query: FormItems, at now: Date) throws(GoogleFault) -> Reply {
        let most = try Self.number("maxResults", query, 1...Int64(Self.mostResults)) ?? Int64(Self.mostResults)
        let range = try Range(query, at: now)
        let matching = entries.lazy.filter { entry in
            entry.number > range.after && entry.purchase.packageName == package
                && (range.withSubscriptions || entry.purchase.type == .product)
                && range.start <= entry.purchase.voidedAt.wholeMilliseconds
                && entry.purchase.voidedAt.wholeMilliseconds <= range.end
        }
        // One extra entry shows whether there is another page.
        let found = Array(matching.prefix(Int(most) + 1))
        let shown = found.prefix(Int(most))
        let next = found.count > shown.count ? shown.last.map { range.token(after: $0.number) } : nil
        return Reply(
            json: Page(
                tokenPagination: next.map { ["nextPageToken": $0] },
                voidedPurchases: shown.isEmpty ? nil : shown.map(\.purchase.item)))
    }

    private struct Page: Encodable {
        let tokenPagination: [String: String]?
        let voidedPurchases: [VoidedPurchase.Item]?
    }

    private static func number(
        _ name: String, _ query: FormItems, _ range: ClosedRange<Int64> = 0...Int64.max
    ) throws(GoogleFault) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let number = Int64(text), range.contains(number) else { throw .invalid("Invalid value at '\(name)'.") }
        return number
    }

    /// Parameters of a call. A page token contains all of them, so the next page's times are ignored, like Google does.
    private struct Range {
        let start: Int64
        let end: Int64
        let withSubscriptions: Bool
        let after: Int

        init(_ query: FormItems, at now: Date) throws(GoogleFault) {
            if let token = query["token"] {
                let parts = String(decoding: Data(base64Encoded: token) ?? Data(), as: UTF8.self)
                    .split(separator: ".").compactMap { Int64($0) }
                guard parts.count == 4 else { throw .invalid("Invalid page token.") }
                (start, end, withSubscriptions, after) = (parts[0], parts[1], parts[2] == 1, Int(parts[3]))
                return
            }
            let oldest = now.wholeMilliseconds - VoidedPurchases.window
            start = try VoidedPurchases.number("startTime", query) ?? oldest
            guard start >= oldest else { throw .invalid("The start time is more than 30 days ago.") }
            end = try VoidedPurchases.number("endTime", query) ?? now.wholeMilliseconds
            withSubscriptions = try VoidedPurchases.number("type", query, 0...1) == 1
            after = 0
        }

        func token(after number: Int) -> String {
            Data("\(start).\(end).\(withSubscriptions ? 1 : 0).\(number)".utf8).base64EncodedString()
        }
    }
}
