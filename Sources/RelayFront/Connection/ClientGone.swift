/// The client left while its poll was held: nobody is there to be answered.
struct ClientGone: Error {}
