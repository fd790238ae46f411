extension PostgresConfiguration {
    /// What is wrong with ``connectionString``, by libpq's own reading of it; nil where nothing is. It says nothing of whether
    /// a server can be reached.
    public var connectionStringError: PostgresError? { ConnectionString.error(in: connectionString) }

    /// How long it may take until the last of several hosts is tried, where all before it are dead; zero where there is one.
    public var failoverTime: Duration {
        let options = ConnectionOptions(self, hasInEnvironment: Connector.hasInEnvironment)
        return .seconds(options.connectTimeout) * ((options.hosts?.hosts.count ?? 1) - 1)
    }

    /// The hosts that the connection string names, with their ports. Empty where it names none: then libpq's environment does.
    public var place: String {
        let options = ConnectionOptions(self, hasInEnvironment: Connector.hasInEnvironment)
        let hosts = (options.hosts?.hosts ?? []).map { host in
            let name = host.name.isEmpty ? host.address : host.name
            return host.port.isEmpty ? name : "\(name.contains(":") ? "[\(name)]" : name):\(host.port)"
        }
        return hosts.joined(separator: ", ")
    }
}
