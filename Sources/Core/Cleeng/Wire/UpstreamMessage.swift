import NIOCore
import OutboundHTTP

/// Code and message of an error answer, in any of Cleeng's error formats.
///
/// Cleeng has several error shapes: `{"message":…}` with `success` and `data` in the Core API, `{"errors":["…"]}` in
/// MediaStore, `{"error":{"code":…,"message":…}}` in JSON-RPC; none is published for `/apple/payment` itself.
struct UpstreamMessage: Equatable {
    var code: String?
    var message: String?

    init(_ body: ByteBuffer?, scrubber: MessageScrubber) {
        guard let json = JSONValue(body) else {
            message = Self.plainText(body).flatMap(scrubber.clean)
            return
        }
        let error = json["error"]
        let first = json["errors"]?.list?.first
        let code =
            json["code"]?.scalarText ?? error?["code"]?.scalarText ?? first?["code"]?.scalarText
            ?? json["errorCode"]?.scalarText
        let message =
            json["message"]?.string ?? error?["message"]?.string ?? error?.string ?? first?["message"]?.string
            ?? first?.string ?? json.string
        self.code = code.flatMap(scrubber.clean)
        self.message = message.flatMap(scrubber.clean)
    }

    /// A short text that is not a web page.
    private static func plainText(_ body: ByteBuffer?) -> String? {
        guard let body, (1...4096).contains(body.readableBytes) else { return nil }
        let text = String(buffer: body)
        return text.contains("<") ? nil : text
    }
}

/// Makes a text from Cleeng safe to store, log and show.
struct MessageScrubber: Sendable {
    static let maximumCharacters = 200
    private static let maximumInput = 65_536

    private let secrets: [String]

    /// Costs nothing until a text is cleaned: most answers need no cleaning.
    ///
    /// - Parameter secrets: texts that an answer may echo and no log may show: tokens, the customer's email.
    init(hiding secrets: [String]) { self.secrets = secrets }

    /// The secrets and their lower-case forms, the longest first.
    private var hidden: [String] {
        guard !secrets.isEmpty else { return [] }
        return Set(secrets + secrets.map { $0.lowercased() }).filter { !$0.isEmpty }
            .sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    /// The text without secrets and control characters, 200 characters at most; nil if nothing is left.
    func clean(_ text: String) -> String? {
        guard text.utf8.count <= Self.maximumInput else { return "(too long to show)" }
        var text = text
        // Secrets are removed before the text is cut: half a token is a secret as well. The search compares bytes. A
        // combining mark after a secret changes its last character, so a search by characters would miss it.
        for secret in hidden where secret.utf8.count <= text.utf8.count {
            text = String(
                decoding: Array(text.utf8).replacing(Array(secret.utf8), with: Array("***".utf8)), as: UTF8.self)
        }
        if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) {
            let cleaned = String(text.prefix(Self.maximumCharacters))
            return cleaned.utf8.allSatisfy { $0 == 0x20 } ? nil : cleaned
        }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if kept.count == Self.maximumCharacters { break }
            switch scalar.properties.generalCategory {
            case .control where scalar == "\n" || scalar == "\r" || scalar == "\t": kept.append(" ")
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: break
            default: kept.append(scalar)
            }
        }
        let cleaned = String(kept)
        return cleaned.allSatisfy(\.isWhitespace) ? nil : cleaned
    }
}

extension HTTPReply {
    /// Whether the message is about a customer, as in `{"message":"Customer not found"}`.
    ///
    /// A gateway's 404 has a message as well, such as `{"message":"Not Found"}`, or one that quotes the path.
    var isAboutCustomer: Bool {
        guard let message = JSONValue(wholeBody)?["message"]?.string, !message.utf8.contains(UInt8(ascii: "/"))
        else { return false }
        return message.lowercased().split { !$0.isLetter }.contains { $0 == "customer" || $0 == "user" }
    }
}

/// Meaning of statuses that are neither a success nor the rejection of one purchase.
enum StatusSorting {
    static func isMisconfiguration(_ status: Int) -> Bool {
        switch status {
        case 300..<400, 401, 403, 404, 405, 406, 407, 410, 411, 415: true
        default: false
        }
    }

    static func trouble(_ status: Int) -> CleengTrouble {
        switch status {
        case 408: .requestTimeout
        case 409, 425: .conflict
        case 429: .throttled
        case 500..<600: .upstreamError
        default: .unexpectedStatus
        }
    }
}
