public import Logging
import NIOConcurrencyHelpers
public import StoreSignals

/// The certificates that messages of SNS are verified by: fetched when a message names one, and kept, since a new one has a new address.
///
/// Anybody can send a message that names a certificate which does not exist. So few are fetched at once, and one that could not be fetched is not
/// asked for again for a while.
public final class SNSCertificates: Sendable {
    public typealias Fetch = @Sendable (SNSCertificateAddress) async throws -> SNSCertificate

    /// There is none now, so nobody knows whether a message is genuine. In words for a stranger.
    struct Unavailable: Error, CustomStringConvertible {
        let description = "the certificate that the message names cannot be read now"
    }

    private struct State {
        /// In the order in which they were fetched.
        var known: [(address: SNSCertificateAddress, certificate: SNSCertificate)] = []
        var running: [SNSCertificateAddress: Task<SNSCertificate?, Never>] = [:]
        /// Until when each is not asked for again.
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
    ///   - fixed: stands for every one, where it is there; then nothing is fetched.
    ///   - fetch: must end in seconds.
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

    /// Neither where it is not to be fetched now.
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
