import Testing

@testable import RelayFront

/// Key sets come from whoever answers at an address.
@Suite struct CustomerKeySetTests {
    /// A private part that fits no public one made swift-crypto end the process while it looked for the primes.
    @Test(
        arguments: ["QAAA", "AQ", "", "AAAA"], ["AEAA", "AAAA", "AQAB", ""])
    func aPrivatePartIsNotRead(exponent: String, modulus: String) async {
        let json = #"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"AQAB","d":"\#(exponent)"}]}"#
        _ = try? await JSONWebKeySet(json: json)
    }
}
