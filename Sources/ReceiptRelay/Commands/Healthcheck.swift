import ArgumentParser
import AsyncHTTPClient
import NIOCore
import NIOHTTP1

struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Exits 0 when the copy that runs on this machine is ready, 1 when it is not.",
        discussion: "Asks GET /readyz of the ops port that RELAY_OPS_HOST and RELAY_OPS_PORT name.")

    @OptionGroup var option: ConfigurationOption

    func run() async throws {
        let settings = try option.settings()
        let (host, port) = (try settings.host(.opsHost), try settings.port(.opsPort))
        // A server that listens on all addresses is called at this machine's own.
        let address = ["0.0.0.0", "::", ""].contains(host) ? "127.0.0.1" : host
        let url = "http://\(address.contains(":") ? "[\(address)]" : address):\(port)/readyz"
        do {
            let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(3))
            guard response.status == .ok else {
                let body = try? await response.body.collect(upTo: 4_096)
                throw Failure("not ready: \(body.map { String(buffer: $0) } ?? "HTTP \(response.status.code)")")
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("nothing answers at \(url)")
        }
        print("ready")
    }
}
