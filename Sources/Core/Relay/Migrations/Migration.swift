import Crypto
import Formats
import Foundation

/// One file of `migrations/`, as embedded in the executable.
public struct Migration: Sendable, Equatable {
    public let number: Int
    /// The file's name without `.sql`.
    public let name: String
    public let sql: String

    /// SHA-256 of the file, in hexadecimal.
    public var checksum: String {
        Hex.text(of: Array(SHA256.hash(data: Data(sql.utf8))))
    }

    /// All migrations, in order. A test compares this list with the folder.
    public static let all: [Migration] = [
        Migration("0001_road_of_a_receipt", PackageResources._001_road_of_a_receipt_sql),
        Migration("0002_upstream_protection", PackageResources._002_upstream_protection_sql),
        Migration("0003_retention", PackageResources._003_retention_sql),
        Migration("0004_verification", PackageResources._004_verification_sql),
        Migration("0005_notifications", PackageResources._005_notifications_sql),
        Migration("0006_cleeng_events", PackageResources._006_cleeng_events_sql),
        Migration("0007_storekit2", PackageResources._007_storekit2_sql),
        Migration("0008_publishers_side", PackageResources._008_publishers_side_sql),
        Migration("0009_webhooks", PackageResources._009_webhooks_sql),
        Migration("0010_orders", PackageResources._010_orders_sql),
        Migration("0011_accounts", PackageResources._011_accounts_sql),
        Migration("0012_billing_upkeep", PackageResources._012_billing_upkeep_sql),
        Migration("0013_own_accounts", PackageResources._013_own_accounts_sql),
        Migration("0014_ops", PackageResources._014_ops_sql),
        Migration("0015_traces", PackageResources._015_traces_sql),
        Migration("0016_encryption", PackageResources._016_encryption_sql),
        Migration("0017_environment_of_pursuits", PackageResources._017_environment_of_pursuits_sql),
        Migration("0018_parked_items", PackageResources._018_parked_items_sql),
        Migration("0019_sealed_by", PackageResources._019_sealed_by_sql),
        Migration("0020_sender_by_environment", PackageResources._020_sender_by_environment_sql),
        Migration("0021_ops_scope", PackageResources._021_ops_scope_sql),
        Migration("0022_access", PackageResources._022_access_sql),
        Migration("0023_owner_numbers", PackageResources._023_owner_numbers_sql),
        Migration("0024_one_granted_customer", PackageResources._024_one_granted_customer_sql),
        Migration("0025_one_granted_customer_checked", PackageResources._025_one_granted_customer_checked_sql),
        Migration("0026_never_due", PackageResources._026_never_due_sql),
        Migration("0027_store_questions", PackageResources._027_store_questions_sql),
        Migration("0028_topic_subscriptions", PackageResources._028_topic_subscriptions_sql),
        Migration("0029_roku", PackageResources._029_roku_sql),
        Migration("0030_consumption_requests", PackageResources._030_consumption_requests_sql),
        Migration("0031_transfer_policy", PackageResources._031_transfer_policy_sql),
        Migration("0032_sweeps_of_every_app", PackageResources._032_sweeps_of_every_app_sql),
        Migration("0033_fences", PackageResources._033_fences_sql),
        Migration("0034_google_connector", PackageResources._034_google_connector_sql),
        Migration("0035_refusals", PackageResources._035_refusals_sql),
        Migration("0036_numbers", PackageResources._036_numbers_sql),
        Migration("0037_takes", PackageResources._037_takes_sql),
        Migration("0038_kept_reads", PackageResources._038_kept_reads_sql),
        Migration("0039_refunds", PackageResources._039_refunds_sql),
        Migration("0040_passed_questions", PackageResources._040_passed_questions_sql),
        Migration("0041_unknown_types", PackageResources._041_unknown_types_sql),
    ]

    init(_ name: String, _ sql: [UInt8]) {
        self.number = Int(name.prefix(4)) ?? 0
        self.name = name
        self.sql = String(decoding: sql, as: UTF8.self)
    }
}
