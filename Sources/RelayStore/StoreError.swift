/// A row that this version of the service cannot make sense of.
public struct StoreError: Error, Equatable, CustomStringConvertible {
    private enum Code: Equatable {
        case unknownNumber(column: String, number: Int)
        case missingRow(String)
    }

    private let code: Code

    static func unknownNumber(column: String, number: Int) -> StoreError {
        StoreError(code: .unknownNumber(column: column, number: number))
    }

    static func missingRow(_ what: String) -> StoreError {
        StoreError(code: .missingRow(what))
    }

    public var description: String {
        switch code {
        case .unknownNumber(let column, let number):
            "the column \(column) holds \(number), which this version does not know"
        case .missingRow(let what): "\(what) is missing"
        }
    }
}
