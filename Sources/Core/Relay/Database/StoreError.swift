/// A row that this version of the relay cannot process.
public struct StoreError: Error, Equatable, CustomStringConvertible {
    private enum Code: Equatable {
        case unknownNumber(column: String, number: Int)
        case missingRow(String)
        case notFinite(column: String)
        case unreadable(column: String)
        case claimedInVain(times: Int, trouble: String?)
        case workersDied(times: Int, trouble: String?)
    }

    private let code: Code

    static func unknownNumber(column: String, number: Int) -> StoreError {
        StoreError(code: .unknownNumber(column: column, number: number))
    }

    static func missingRow(_ what: String) -> StoreError {
        StoreError(code: .missingRow(what))
    }

    static func notFinite(column: String) -> StoreError {
        StoreError(code: .notFinite(column: column))
    }

    package static func unreadable(column: String) -> StoreError {
        StoreError(code: .unreadable(column: column))
    }

    static func claimedInVain(times: Int, trouble: String?) -> StoreError {
        StoreError(code: .claimedInVain(times: times, trouble: trouble))
    }

    static func workersDied(times: Int, trouble: String?) -> StoreError {
        StoreError(code: .workersDied(times: times, trouble: trouble))
    }

    public var description: String {
        switch code {
        case .unknownNumber(let column, let number):
            "the column \(column) holds \(number), which this version does not know"
        case .missingRow(let what): "\(what) is missing"
        case .notFinite(let column): "the column \(column) holds a time that no clock will show"
        case .unreadable(let column): "the column \(column) holds what this version cannot read"
        case .claimedInVain(let times, let trouble):
            "claimed \(times) times and never written; the last error: \(trouble ?? "none, the process ended")"
        case .workersDied(let times, let trouble):
            "\(times) workers ended or hung while they had it; the last error: \(trouble ?? "none")"
        }
    }
}
