/// A place between two elements of one ``BERDocument``, and where their container ends.
struct BERCursor {
    var offset: Int
    let end: Int

    var isAtEnd: Bool { offset >= end }
}
