/// What a status means that is neither a success nor the refusal of one purchase.
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
