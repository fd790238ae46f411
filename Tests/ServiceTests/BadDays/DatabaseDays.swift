import Testing

/// What happens when the database is not there. One after the other: they crash the same one.
@Suite(.serialized) enum DatabaseDays {}
