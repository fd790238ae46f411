/// Thrown by a handler whose connection is closed: nobody is there to be answered.
struct ConnectionGone: Error {}
