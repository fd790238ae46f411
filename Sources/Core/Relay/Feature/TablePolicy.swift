/// What the relay must know of a feature's tables to seal, export, erase and remove what is in them.
package struct TablePolicy: Sendable {
    /// Tables with private columns.
    package var sealed: [PrivateColumns]
    /// Rows that may mention a customer in a text.
    package var mentions: [MentioningRows]
    /// Rows that are removed once they are old, in the order of removal.
    package var leftovers: [Leftovers]

    package init(sealed: [PrivateColumns] = [], mentions: [MentioningRows] = [], leftovers: [Leftovers] = []) {
        self.sealed = sealed
        self.mentions = mentions
        self.leftovers = leftovers
    }
}
