import Testing

@testable import HTTPServer
@testable import Relay

/// Key sets come from an external address.
@Suite struct CustomerKeySetTests {
    /// A private part without a matching public one crashed the process while swift-crypto searched for the primes.
    @Test(
        arguments: ["QAAA", "AQ", "", "AAAA"], ["AEAA", "AAAA", "AQAB", ""])
    func aPrivatePartIsNotRead(exponent: String, modulus: String) async {
        let json = #"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"AQAB","d":"\#(exponent)"}]}"#
        _ = try? await JSONWebKeySet(json: json)
    }
}
