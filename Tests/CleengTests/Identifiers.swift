import RelayCore

// Imported one by one, since some of RelayCore's types have the same names as Cleeng's.
typealias ForwardAnswer = RelayCore.ForwardAnswer
typealias EmailAddress = RelayCore.EmailAddress
typealias OfferID = RelayCore.OfferID
typealias SynchronizationAnswer = RelayCore.SynchronizationAnswer
typealias TagID = RelayCore.TagID
typealias Timestamp = RelayCore.Timestamp
typealias TransactionID = RelayCore.TransactionID
