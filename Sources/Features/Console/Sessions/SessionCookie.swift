import Formats
import HTTPTypes
import Relay
import RelayCore

/// The cookie of a signed-in browser. Scripts cannot read it, and other sites' forms do not send it.
enum SessionCookie {
    static let name = "relay_session"
    static let lifetime = Duration.seconds(43_200)

    static func token(in headers: HTTPFields) -> ConsoleSession.Token? {
        for field in headers[values: .cookie] {
            for pair in field.parts(at: ";") {
                guard let (found, value) = pair.halves(at: "="), found.withoutBlanks.isSame(name) else { continue }
                if let token = ConsoleSession.Token(value) { return token }
            }
        }
        return nil
    }

    /// - Parameter isSecure: whether the request came by https. The cookie is then never sent by http.
    static func set(_ token: ConsoleSession.Token, isSecure: Bool) -> String {
        "\(name)=\(token.text); Max-Age=\(lifetime.components.seconds); \(attributes(isSecure: isSecure))"
    }

    static func clear(isSecure: Bool) -> String { "\(name)=; Max-Age=0; \(attributes(isSecure: isSecure))" }

    private static func attributes(isSecure: Bool) -> String {
        "Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")
    }

    /// Whether the request came by https, as the proxy before the ops port reports. The port itself speaks http.
    static func isSecure(_ headers: HTTPFields) -> Bool { headers[.xForwardedProto] == "https" }
}
