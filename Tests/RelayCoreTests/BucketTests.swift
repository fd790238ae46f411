import RelayCore
import Testing

/// The numbers are part of rows and of public ids: a change would break every deployment.
struct BucketTests {
    @Test func theNumberOfABucketNeverChanges() {
        // Computed by another program: 64-bit FNV-1a over the parts, each followed by a zero byte, then the exclusive or of
        // the hash's eight bytes.
        #expect(Bucket(of: "").number == 210)
        #expect(Bucket(of: "", "").number == 104)
        #expect(Bucket(of: "a").number == 146)
        #expect(Bucket(of: "ab").number == 123)
        #expect(Bucket(of: "a", "b").number == 5)
        #expect(Bucket(of: "b", "a").number == 135)
        #expect(Bucket(of: "ab", "").number == 18)
        #expect(Bucket(of: "", "ab").number == 149)
        #expect(Bucket(of: "pub_1", "1000000123456789").number == 233)
        #expect(Bucket(of: "acme", "ana@example.test").number == 224)
        #expect(Bucket(of: "acme", "200001234567890").number == 49)
        #expect(Bucket(of: "Größe", "日本語").number == 205)
        #expect(Bucket(of: String(repeating: "x", count: 1_000)).number == 19)
    }

    @Test func thereAre256() {
        #expect(Bucket.count == 256)
        #expect((0..<Bucket.count).allSatisfy { UInt8(exactly: $0) != nil })
    }

    @Test(
        arguments: [
            { Bucket(of: "acme", "\(2_000_000_000_000_000 + $0)") }, { Bucket(of: "acme", "user\($0)@example.test") },
            { Bucket(of: "publisher-\($0)", "1000000123456789") }, { Bucket(of: "\($0)") },
        ] as [@Sendable (Int) -> Bucket])
    func keysThatLookAlikeSpreadEvenly(bucket: @Sendable (Int) -> Bucket) {
        var counts = [Int](repeating: 0, count: Bucket.count)
        let keys = 25_600
        for key in 0..<keys { counts[Int(bucket(key).number)] += 1 }
        let expected = Double(keys) / Double(Bucket.count)
        let chiSquare = counts.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
        // The statistic has 255 degrees of freedom: mean 255, standard deviation 22.6.
        #expect(chiSquare < 255 + 4 * 22.6, "some buckets are hot")
        #expect(counts.allSatisfy { (50...150).contains($0) })
    }
}
