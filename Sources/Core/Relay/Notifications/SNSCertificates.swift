public import Logging
import NIOConcurrencyHelpers
public import StoreSignals

/// Certificates that verify SNS messages. A certificate is fetched when a message names it, and then cached: a new
/// certificate has a new address.
///
/// Any client can send a message that names a certificate that does not exist. So few fetches run at once, and a failed
/// one is not repeated for a while.
public final class SNSCertificates: Sendable {
    public typealias Fetch = @Sendable (SNSCertificateAddress) async throws -> SNSCertificate

    /// The certificate is unavailable, so the message cannot be verified. The text is safe for strangers.
    struct Unavailable: Error, CustomStringConvertible {
        let description = "the certificate that the message names cannot be read now"
    }

    private struct State {
        /// In the order of fetching.
        var known: [(address: SNSCertificateAddress, certificate: SNSCertificate)] = []
        var running: [SNSCertificateAddress: Task<SNSCertificate?, Never>] = [:]
        /// Time of the earliest next fetch, by address.
        var failed: [SNSCertificateAddress: ContinuousClock.Instant] = [:]
    }

    static let pause = Duration.seconds(30)
    private static let mostKnown = 16
    private static let mostFailed = 64
    private static let mostFetched = 4

    private let fixed: SNSCertificate?
    private let fetch: Fetch
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - fixed: certificate used for every message; nothing is fetched then.
    ///   - fetch: must end within seconds.
    public init(
        fixed: SNSCertificate? = nil, logger: Logger, fetch: @escaping Fetch,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.fixed = fixed
        self.logger = logger
        self.fetch = fetch
        self.now = now
    }

    func certificate(at address: SNSCertificateAddress) async throws(Unavailable) -> SNSCertificate {
        if let fixed { return fixed }
        let (known, running) = look(at: address)
        if let known { return known }
        guard let certificate = await running?.value else { throw Unavailable() }
        return certificate
    }

    /// The cached certificate, or the fetch to wait for. Both are nil if the address must not be fetched now.
    private func look(at address: SNSCertificateAddress) -> (SNSCertificate?, Task<SNSCertificate?, Never>?) {
        let now = now()
        return state.withLockedValue { state in
            if let known = state.known.first(where: { $0.address == address }) { return (known.certificate, nil) }
            if let running = state.running[address] { return (nil, running) }
            guard state.running.count < Self.mostFetched, state.failed[address].map({ $0 <= now }) ?? true else {
                return (nil, nil)
            }
            let task = Task { await self.read(address) }
            state.running[address] = task
            return (nil, task)
        }
    }

    private func read(_ address: SNSCertificateAddress) async -> SNSCertificate? {
        let result: Result<SNSCertificate, any Error>
        do { result = .success(try await fetch(address)) } catch { result = .failure(error) }
        let now = now()
        return state.withLockedValue { state in
            state.running[address] = nil
            switch result {
            case .success(let certificate):
                state.failed[address] = nil
                if state.known.count >= Self.mostKnown { state.known.removeFirst() }
                state.known.append((address, certificate))
                return certificate
            case .failure(let error):
                logger.warning(
                    "a certificate of Amazon SNS cannot be fetched: its messages wait", metadata: ["error": "\(error)"])
                if state.failed.count >= Self.mostFailed { state.failed = state.failed.filter { $0.value > now } }
                if state.failed.count < Self.mostFailed { state.failed[address] = now + Self.pause }
                return nil
            }
        }
    }
}
