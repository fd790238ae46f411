import Foundation

/// What a call was answered with.
struct Answer {
    let status: Int
    let headers: [String: String]
    let body: Data

    var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body) as? [String: Any]) ?? [:] }
    var text: String { String(decoding: body, as: UTF8.self) }
    var errorCode: Int? { json["errorCode"] as? Int }

    /// The subscriptions of a status answer.
    var items: [[String: Any]] {
        let groups = json["data"] as? [[String: Any]] ?? []
        return groups.flatMap { $0["lastTransactions"] as? [[String: Any]] ?? [] }
    }

    /// The notifications of a history page.
    var history: [[String: Any]] { json["notificationHistory"] as? [[String: Any]] ?? [] }

    /// What the notifications of a page are named.
    var names: [String] {
        history.compactMap { Self.payload($0["signedPayload"])["notificationUUID"] as? String }
    }

    /// What is signed.
    static func payload(_ jws: Any?) -> [String: Any] {
        let parts = (jws as? String ?? "").split(separator: ".")
        guard parts.count == 3 else { return [:] }
        let text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let data = Data(base64Encoded: String(padded)) ?? Data()
        return (try? JSONSerialization.jsonObject(with: data) as? [String: Any]) ?? [:]
    }
}
