/// An input line of `app-store-simulator play`.
public enum LifeCommand: Sendable, Hashable {
    case event(LifeEvent)
    /// The event occurs, but its notification is not delivered.
    case lost(LifeEvent)
    /// The newest signed transaction.
    case transaction
    /// The app receipt.
    case receipt
    case help

    /// Syntax of each command, in the order of a subscription's events.
    public static let forms = [
        "buy", "renew", "fail [grace]", "grace-ended", "recover", "upgrade PRODUCT", "downgrade PRODUCT", "turn-off",
        "turn-on", "expire", "refund", "reverse-refund", "resubscribe", "revoke", "transaction", "receipt", "help",
    ]

    /// - Throws: if the line is not a command.
    public init(_ line: String) throws(LifeError) {
        var words = line.split(whereSeparator: \.isWhitespace).map { String($0) }
        let isLost = words.last == Self.lostWord
        if isLost { words.removeLast() }
        guard let command = Self.plain(words) ?? Self.withProduct(words) else {
            throw Self.error(words.first ?? (isLost ? Self.lostWord : ""))
        }
        guard isLost else {
            self = command
            return
        }
        guard case .event(let event) = command else { throw LifeError("only a notification can be lost") }
        self = .lost(event)
    }

    /// Suffix of an event whose notification is not delivered.
    public static let lostWord = "--lost"

    private static func plain(_ words: [String]) -> LifeCommand? {
        switch words {
        case ["buy"]: .event(.buy)
        case ["renew"]: .event(.renew)
        case ["fail"]: .event(.fail(hasGrace: false))
        case ["fail", "grace"]: .event(.fail(hasGrace: true))
        case ["grace-ended"]: .event(.graceEnded)
        case ["recover"]: .event(.recover)
        case ["turn-off"]: .event(.turn(.off))
        case ["turn-on"]: .event(.turn(.on))
        case ["expire"]: .event(.expire)
        case ["refund"]: .event(.refund)
        case ["reverse-refund"]: .event(.reverseRefund)
        case ["resubscribe"]: .event(.resubscribe)
        case ["revoke"]: .event(.revoke)
        case ["transaction"]: .transaction
        case ["receipt"]: .receipt
        case ["help"]: .help
        default: nil
        }
    }

    private static func withProduct(_ words: [String]) -> LifeCommand? {
        guard words.count == 2 else { return nil }
        switch words[0] {
        case "upgrade": return .event(.upgrade(productId: words[1]))
        case "downgrade": return .event(.downgrade(productId: words[1]))
        default: return nil
        }
    }

    private static func error(_ name: String) -> LifeError {
        if let form = forms.first(where: { $0 == name || $0.hasPrefix("\(name) ") }) {
            return LifeError("it is written: \(form)")
        }
        return LifeError("unknown command \(name), see help")
    }
}
