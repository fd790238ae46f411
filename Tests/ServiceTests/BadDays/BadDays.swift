import Testing

/// Tests of an upstream, clients or copies of the relay that fail. They run one at a time, since each loads the whole
/// machine.
@Suite(.serialized) enum BadDays {}
