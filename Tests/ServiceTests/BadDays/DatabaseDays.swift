import Testing

/// Tests without a database. They run one at a time, since all crash the same cluster.
@Suite(.serialized) enum DatabaseDays {}
