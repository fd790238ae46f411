import NIOConcurrencyHelpers
import X509

/// Checks whether a certificate was revoked, at the OCSP address that the certificate names (RFC 6960).
///
/// No request waits for it, and no purchase depends on its result. It ends within ten seconds, or twenty if a second
/// query is needed.
public struct RevocationCheck: Sendable {
    public enum Status: Sendable, Hashable {
        case good
        /// The issuer says so, in a signed answer.
        case revoked
        /// Neither is proven. The reason may quote the answer.
        case unknown(String)
    }

    /// Sends a request (`application/ocsp-request`) and returns the body of the answer.
    ///
    /// - Parameter path: path of the address in the certificate; the host is ``host``.
    public typealias Ask = @Sendable (_ request: [UInt8], _ path: String) async throws -> [UInt8]

    /// Apple's responder. A certificate that names another host is not looked up.
    public static let host = "ocsp.apple.com"
    /// Limit in characters: the rest of swift-certificates' message repeats the answer.
    private static let longestReason = 200

    private let ask: Ask

    public init(_ ask: @escaping Ask) { self.ask = ask }

    /// Sends a strict query, which fails unless the answer is good. After a failure a lenient query follows, which
    /// fails only if the answer proves the revocation.
    public func status(of certificate: SigningCertificate) async -> Status {
        let path: String
        switch certificate.responder {
        case .path(let found): path = found
        case .none(let reason): return .unknown(reason)
        }
        let strict = FirstQuery(ask, path, failsWithoutAnswer: true)
        guard let failure = await Self.failure(of: certificate, .hard, strict) else {
            return strict.isAnswered ? .good : .unknown("nobody was asked")
        }
        if let trouble = strict.trouble { return .unknown(trouble) }
        let lenient = FirstQuery(ask, path, failsWithoutAnswer: false)
        guard await Self.failure(of: certificate, .soft, lenient) != nil, lenient.isAnswered else {
            return .unknown(String(failure.prefix(Self.longestReason)))
        }
        return .revoked
    }

    /// Nil if the policy is met.
    private static func failure(
        of certificate: SigningCertificate, _ mode: OCSPFailureMode, _ query: FirstQuery
    ) async -> String? {
        let path = certificate.path
        var verifier = Verifier(rootCertificates: CertificateStore(path.suffix(1))) {
            RFC5280Policy()
            OCSPVerifierPolicy(failureMode: mode, requester: query)
        }
        let authorities = CertificateStore(path.dropFirst().dropLast())
        switch await verifier.validate(leaf: path[0], intermediates: authorities) {
        case .validCertificate: return nil
        case .couldNotValidate(let failures):
            return failures.last.map { "\($0.policyFailureReason)" } ?? "it does not lead to its root"
        }
    }
}

/// Queries only the first certificate of a path. swift-certificates also queries those above it; these pass here,
/// because the relay checks each certificate by itself.
private final class FirstQuery: OCSPRequester {
    private enum State {
        case waiting, asking, answered
        case failed(String)
    }

    private struct NotAsked: Error {}

    private let ask: RevocationCheck.Ask
    private let path: String
    private let failsWithoutAnswer: Bool
    private let state = NIOLockedValueBox(State.waiting)

    init(_ ask: @escaping RevocationCheck.Ask, _ path: String, failsWithoutAnswer: Bool) {
        self.ask = ask
        self.path = path
        self.failsWithoutAnswer = failsWithoutAnswer
    }

    var isAnswered: Bool { if case .answered = state.withLockedValue({ $0 }) { true } else { false } }

    /// Why no answer came; nil if one came or no query was sent.
    var trouble: String? { if case .failed(let why) = state.withLockedValue({ $0 }) { why } else { nil } }

    func query(request: [UInt8], uri: String) async -> OCSPRequesterQueryResult {
        let isFirst = state.withLockedValue { state in
            guard case .waiting = state else { return false }
            state = .asking
            return true
        }
        guard isFirst else { return .nonTerminalError(NotAsked()) }
        do {
            let answer = try await ask(request, path)
            state.withLockedValue { $0 = .answered }
            return .response(answer)
        } catch {
            state.withLockedValue { $0 = .failed("\(error)") }
            return failsWithoutAnswer ? .terminalError(error) : .nonTerminalError(error)
        }
    }
}

extension SigningCertificate {
    enum Responder {
        case path(String)
        /// No responder can be queried, for this reason.
        case none(String)
    }

    /// Responder of the certificate. Like swift-certificates, this uses the first OCSP address.
    var responder: Responder {
        // swift-certificates would reject such a path whatever the answer is, and that would look like a revocation.
        guard let root = path.last, (try? Self.addresses(of: root))?.isEmpty == true else {
            return .none("its root names an OCSP responder")
        }
        guard let addresses = try? Self.addresses(of: path[0]) else {
            return .none("its addresses cannot be read")
        }
        guard let address = addresses.first else { return .none("it names no OCSP responder") }
        guard let match = address.wholeMatch(of: /https?:\/\/ocsp\.apple\.com(\/[A-Za-z0-9_\/-]{1,200})/.ignoresCase())
        else { return .none("its OCSP responder is not at \(RevocationCheck.host)") }
        return .path(String(match.1))
    }

    /// Addresses of OCSP responders; an empty text represents a location that is not a URI.
    private static func addresses(of certificate: Certificate) throws -> [String] {
        let access = try certificate.extensions.authorityInformationAccess
        let locations = (access ?? AuthorityInformationAccess()).filter { $0.method == .ocspServer }.map(\.location)
        let addresses = locations.compactMap { location -> String? in
            if case .uniformResourceIdentifier(let address) = location { address } else { nil }
        }
        return addresses.isEmpty && !locations.isEmpty ? [""] : addresses
    }
}
