import TestSupport

/// Notifications with one to three parts that this version does not know. All are for our app.
struct FutureNotifications {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// - Returns: a notification that this version knows, and its future form.
    mutating func next() -> (known: FutureNotification, future: FutureNotification) {
        let known = FutureNotification.all.randomElement(using: &generator) ?? FutureNotification("TEST")
        var future = known
        for _ in 0..<Int.random(in: 1...3, using: &generator) { change(&future, from: known) }
        return (known, future)
    }

    private mutating func change(_ notification: inout FutureNotification, from known: FutureNotification) {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: notification.payload["notificationType"] = .text(word("TYPE"))
        case 1: notification.payload["subtype"] = .text(word("KIND"))
        case 2: notification.name = word("object")
        case 3: notification.replacement = AppleField.object([:]).changed(using: &generator)
        case 4, 5: addField(to: &notification)
        default: changeType(in: &notification, from: known)
        }
    }

    private mutating func addField(to notification: inout FutureNotification) {
        guard let part = anyPart(of: notification) else { return }
        let name = word("field")
        let value = AppleField.text(word("value"))
        notification[keyPath: part][name] = Bool.random(using: &generator) ? value : value.changed(using: &generator)
    }

    /// Changes the type of a field's known value. A second change could give it another meaning.
    private mutating func changeType(in notification: inout FutureNotification, from known: FutureNotification) {
        guard let part = anyPart(of: known) else { return }
        var fields = known[keyPath: part]
        if part == \FutureNotification.object {
            if !known.transaction.isEmpty { fields["signedTransactionInfo"] = "a.b.c" }
            if !known.renewal.isEmpty { fields["signedRenewalInfo"] = "a.b.c" }
        }
        guard let key = fields.keys.sorted().randomElement(using: &generator), let field = fields[key] else { return }
        // Certificates are judged at the time of this date, so it must stay readable.
        let isDate = part == \FutureNotification.payload && key == "signedDate"
        notification[keyPath: part][key] =
            isDate ? .text("\(FutureNotification.now)") : field.changed(using: &generator)
    }

    /// A random part that the notification has.
    private mutating func anyPart(
        of notification: FutureNotification
    ) -> WritableKeyPath<FutureNotification, [String: AppleField]>? {
        let parts: [WritableKeyPath<FutureNotification, [String: AppleField]>] = [
            \.payload, \.object, \.transaction, \.renewal,
        ]
        return parts.filter { !notification[keyPath: $0].isEmpty }.randomElement(using: &generator)
    }

    private mutating func word(_ start: String) -> String { "\(start)_\(Int.random(in: 0..<1_000, using: &generator))" }
}
