import Crypto
public import Foundation

extension StoreAuthority {
    /// JSON as the App Store signs it: compact, ES256, with the three certificates.
    ///
    /// - Parameters:
    ///   - algorithm: what the header says; the signature is the same.
    ///   - certificates: what the header carries in place of this authority's own.
    /// - Throws: where this authority's key is not one for it.
    public func sign(
        json: Data, algorithm: String = "ES256", certificates: [[UInt8]]? = nil
    ) throws -> String {
        guard case .p256(let key) = key else { throw WrongKey() }
        let x5c = (certificates ?? self.certificates).map { "\"\(Data($0).base64EncodedString())\"" }.joined(
            separator: ",")
        let header = #"{"alg":"\#(algorithm)","x5c":[\#(x5c)]}"#
        let input = "\(Self.base64URL(Data(header.utf8))).\(Self.base64URL(json))"
        let signature = try key.signature(for: SHA256.hash(data: Data(input.utf8)))
        return "\(input).\(Self.base64URL(signature.rawRepresentation))"
    }

    struct WrongKey: Error {}

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
