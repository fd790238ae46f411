import Formats

extension StoreNotification {
    /// The object `notification` of a message to publishers' endpoints, about a notification that concerns no purchase.
    ///
    /// - Parameters:
    ///   - part: name of the member with the store's own content.
    ///   - json: that content.
    public func notice(_ part: String, json: some Collection<UInt8>) -> String {
        var writer = JSONWriter(capacity: 256 + json.count)
        writer.beginObject()
        writer.member("store", store.rawValue)
        writer.member("type", type)
        writer.member("subtype", subtype)
        writer.member("id", uuid)
        writer.member("date", saidAt?.rfc3339)
        writer.member("bundleId", bundleID?.text)
        writer.member("environment", environment.text)
        writer.name(part)
        writer.value(json: json)
        writer.endObject()
        return writer.text
    }
}
