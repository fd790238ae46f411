/// A feature, a line in the executable's list. The core does not know it.
public struct Feature: Sendable {
    public let stored: StoredFeature
    public let front: FrontFeature?

    public init(stored: StoredFeature, front: FrontFeature? = nil) {
        self.stored = stored
        self.front = front
    }
}
