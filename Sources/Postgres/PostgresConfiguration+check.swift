extension PostgresConfiguration {
    /// What is wrong with ``connectionString``, by libpq's own reading of it; nil where nothing is. It says nothing of whether
    /// a server can be reached.
    public var connectionStringError: PostgresError? { ConnectionString.error(in: connectionString) }
}
