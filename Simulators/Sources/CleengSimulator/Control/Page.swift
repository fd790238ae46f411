/// A list in the shape of Cleeng's own lists.
struct Page<Item: Encodable>: Encodable {
    let items: [Item]
    let totalItemCount: Int
}
