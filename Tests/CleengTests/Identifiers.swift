import RelayCore

// By name alone: some of RelayCore's types have the names of Cleeng's.
typealias EmailAddress = RelayCore.EmailAddress
typealias OfferID = RelayCore.OfferID
typealias TagID = RelayCore.TagID
typealias Timestamp = RelayCore.Timestamp
typealias TransactionID = RelayCore.TransactionID
