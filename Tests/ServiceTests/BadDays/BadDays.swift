import Testing

/// What happens when the database, the upstream, the clients or the relay's own copies go away. One after the other, since
/// each of these days takes the machine for itself; ``CrowdTests``, which mostly waits, goes beside them.
@Suite(.serialized) enum BadDays {}
