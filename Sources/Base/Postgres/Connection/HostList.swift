/// The hosts that a connection string names, in the order in which libpq tries them.
struct HostList: Sendable, Equatable {
    struct Host: Sendable, Hashable {
        /// A name, an address or a socket directory; empty if only ``address`` is given.
        var name: String
        /// An address that makes the lookup unnecessary; empty if there is none.
        var address = ""
        /// Empty for the default port.
        var port = ""

        /// Whether a connection with libpq's `name` and `port` is to this host.
        func isServed(by name: String, port: String) -> Bool {
            (self.name.isEmpty ? address : self.name) == name && (self.port.isEmpty || self.port == port)
        }
    }

    private(set) var hosts: [Host]

    /// Nil if the lists have different lengths; libpq reports that error.
    init?(host: String?, hostaddr: String?, port: String?) {
        func parts(_ list: String?) -> [String] {
            list.map {
                $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
                    String(Substring($0))
                }
            } ?? []
        }
        let (names, addresses) = (parts(host), parts(hostaddr))
        var ports = parts(port)
        let count = max(names.count, addresses.count)
        if ports.count == 1 { ports = Array(repeating: ports[0], count: count) }
        guard count > 0, [names, addresses, ports].allSatisfy({ $0.isEmpty || $0.count == count }) else { return nil }
        hosts = (0..<count).map { index in
            Host(
                name: names.isEmpty ? "" : names[index], address: addresses.isEmpty ? "" : addresses[index],
                port: ports.isEmpty ? "" : ports[index])
        }
    }

    /// The same list with this host first, the others in their order.
    func preferring(_ host: Host?) -> HostList {
        guard let host, let index = hosts.firstIndex(of: host) else { return self }
        var list = self
        list.hosts = [host] + hosts[..<index] + hosts[(index + 1)...]
        return list
    }

    /// Keywords in libpq's form.
    var keywords: [(String, String)] {
        func list(_ keyword: String, _ parts: [String]) -> [(String, String)] {
            parts.allSatisfy(\.isEmpty) ? [] : [(keyword, parts.joined(separator: ","))]
        }
        return list("host", hosts.map(\.name)) + list("hostaddr", hosts.map(\.address))
            + list("port", hosts.map(\.port))
    }
}
