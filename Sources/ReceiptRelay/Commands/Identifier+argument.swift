import ArgumentParser
public import RelayCore

extension Identifier: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
