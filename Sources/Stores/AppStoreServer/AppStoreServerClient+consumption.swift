import Formats
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import OutboundHTTP
public import RelayCore

/// Apple's reply to an answer about a refund request.
public enum ConsumptionReply: Sendable, Equatable {
    case taken
    /// A permanent refusal, with Apple's error number if it gives one.
    case refused(status: Int, code: Int64)
}

extension AppStoreServerClient {
    /// Sends the App Store information on how a purchase was used (`PUT
    /// /inApps/v2/transactions/consumption/{transactionId}`). A repeated call replaces it.
    ///
    /// For an unknown transaction the result is ``AppStoreAnswer/unknown``: Apple may know it later.
    public func sendConsumption(
        _ answer: ConsumptionAnswer, about transactionID: TransactionID, in environment: Environment, bundleID: BundleID
    ) async -> AppStoreAnswer<ConsumptionReply> {
        let path = "/inApps/v2/transactions/consumption/\(transactionID.text.percentEncoded)"
        let sent = await send(
            .PUT, path, in: environment, bundleID: bundleID, body: Data(answer.json.utf8))
        guard case .value(let reply) = sent else { return sent.withoutValue() }
        switch reply.status {
        case 200..<300: return .value(.taken)
        case 404: return .unknown
        case 401, 408, 429: return AppStoreRefusal.answer(reply)
        case 400..<500:
            let fault = reply.wholeBody.flatMap {
                try? JSONDecoder().decode(AppStoreRefusal.Fault.self, from: Data(buffer: $0))
            }
            // A reply without Apple's error number came from a server in between, not from Apple.
            guard let code = fault?.errorCode else { return .tryAgain("HTTP \(reply.status)", retryAfter: nil) }
            return .value(.refused(status: reply.status, code: code))
        default: return AppStoreRefusal.answer(reply)
        }
    }
}

extension AppStoreAnswer {
    /// The same answer for another type of value; `value` becomes `unknown`.
    fileprivate func withoutValue<Other>() -> AppStoreAnswer<Other> {
        switch self {
        case .value, .unknown: .unknown
        case .misconfigured(let why): .misconfigured(why)
        case .tryAgain(let why, let pause): .tryAgain(why, retryAfter: pause)
        }
    }
}
