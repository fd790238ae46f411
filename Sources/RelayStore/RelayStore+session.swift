extension RelayStore {
    /// What each session of the pool begins with.
    ///
    /// The queues are empty most of the time. A plan that the server keeps from such a time would read them from end to end, for each row
    /// anew: claiming out of twenty thousand rows took 51 s by such a plan, and a millisecond by the indexes. Every statement
    /// here has an index to go by. What a plan without one is rated at would have the server compile it.
    public static let sessionParameters = ["enable_seqscan": "off", "jit": "off"]
}
