import Testing

/// What happens when the upstream, the clients or the relay's own copies go away. One after the other: each of these days
/// wants the machine for itself.
@Suite(.serialized) enum BadDays {}
